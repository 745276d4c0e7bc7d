"Say what went wrong with a provider, and what to do about it.

A ProviderError has a `kind`, one of those in classes.hy; and `status` (HTTP, or None), `retry-after` (seconds, or None), `provider`
(its name), `text` (the provider's own words), `retryable`. Every failure of every wire is made here: from an HTTP answer
(`from-response`), from an error event inside a stream (`from-event`), or from what became of a connection."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  json
  re
  autolith.base [conditions]
  autolith.provider [classes credentials waits])

(defparameter longest-message 1000
  "How many characters of a provider's own words are shown.")


(defclass ProviderError [conditions.AutolithError]
  "A request to PROVIDER failed in the way KIND."

  (defn __init__ [self kind message * [status None] [retry-after None] [provider None] [text ""] [retryable None]]
    (.__init__ (super) (public message))
    (setv self.kind kind
          self.status status
          self.retry-after retry-after
          self.provider provider
          self.text (public text)
          self.retryable (if (is retryable None) (classes.again? kind) retryable))))


;; * Words

(defn public [text]
  "Return TEXT without secrets, those in a URL before its host included."
  (re.sub r"(https?://)[^/@\s]+@" r"\1" (credentials.redact text)))

(defn short [text]
  "Return TEXT on one line, bounded."
  (setv text (.join " " (.split text)))
  (if (> (len text) longest-message)
    (+ (cut text longest-message) "...")
    text))

(defn sentence [text]
  "Return TEXT on one line, bounded, with an end."
  (setv text (short text))
  (if (.endswith text #("." "!" "?" ":" "\"" "'")) text (+ text ".")))


;; * Answers that are failures

(defn from-event [request value]
  "Return the error that the event VALUE, an object, inside the stream for REQUEST means."
  (setv name (get (get request "provider") "name")
        said (classes.read value)
        message (get said "message")
        kind (classes.classify (get said "status") (get said "names") message))
  (ProviderError kind (+ f"{name} ({(place request)}) reported an error while it answered: {(sentence message)}"
                         (hint kind request said (get said "status")))
                 :status (get said "status") :provider name :text (short message) :retry-after (get said "wait")))

(defn from-response [request status headers content url]
  "Return the error that the HTTP answer STATUS HEADERS CONTENT (text, perhaps cut) from URL means for REQUEST."
  (setv name (get (get request "provider") "name"))
  (cond
    (<= 300 status 399)
      (ProviderError "invalid-request" (+ f"{name}: {url} sends on to {(.get headers "location" "nowhere")} (HTTP {status})."
                                          (where-url request))
                     :status status :provider name)
    (page? content) (from-page request status headers content url)
    True (from-object request status headers (classes.read (_json content)))))

(defn from-object [request status headers said]
  "Return the error for REQUEST that the HTTP STATUS and HEADERS with an error object that SAID this mean."
  (setv name (get (get request "provider") "name")
        message (get said "message")
        kind (classes.classify status (get said "names") message)
        wait (waits.asked headers (get said "wait") (= kind "rate-limit"))
        limited {#** said "wait" wait})
  (ProviderError kind (+ f"{name} ({(place request)}) answered HTTP {status}: {(sentence (or message "nothing more"))}"
                         (hint kind request limited status))
                 :status status :provider name :text (short message) :retryable (wanted headers) :retry-after wait))

(defn from-page [request status headers content url]
  "Return the error for REQUEST that a web page, CONTENT, from URL with the HTTP STATUS and HEADERS means."
  (setv name (get (get request "provider") "name"))
  (ProviderError (classes.classify status [])
                 (+ f"{name}: {url} answered HTTP {status} with a web page ({(or (_title content) "without a title")}), so something else "
                    f"than the provider answered, as a proxy does.{(where-url request)}")
                 :status status :provider name :text (or (_title content) "") :retry-after (waits.asked headers)
                 :retryable (if (< status 500) False (wanted headers))))

(defn wanted [headers]
  "Return what HEADERS say about trying again: True, False or None."
  (.get {"true" True "false" False} (.lower (.get headers "x-should-retry" ""))))

(defn not-a-stream [request headers content url]
  "Return the error for an answer from URL with status 200 that is no event stream."
  (setv name (get (get request "provider") "name")
        value (_json content))
  (when (and (isinstance value dict) (.get value "error"))
    (return (from-event request value)))
  (ProviderError "protocol" (+ f"{name}: {url} did not answer with a stream of events but with {(what-came headers content)}."
                               (where-url request))
                 :status 200 :provider name :text (cut (short content) 200) :retryable False))

(defn object-of [request headers content url]
  "Return the JSON object that CONTENT, the answer from URL with status 200, is; raise what anything else means for REQUEST."
  (setv value (_json content)
        name (get (get request "provider") "name"))
  (cond
    (and (isinstance value dict) (.get value "error")) (raise (from-event request value))
    (isinstance value dict) value
    True (raise (ProviderError "protocol" (+ f"{name}: {url} did not answer with a JSON object but with {(what-came headers content)}."
                                             (where-url request))
                               :status 200 :provider name :text (cut (short content) 200) :retryable False))))

(defn what-came [headers content]
  "Return the words for CONTENT, an answer with HEADERS that was not asked for."
  (if (page? content)
    f"a web page ({(or (_title content) "without a title")})"
    f"{(.get headers "content-type" "something without a type")}: {(cut (short content) 200)}"))

(defn page? [content]
  "Tell whether CONTENT is a web page."
  (bool (re.search r"<html|<!doctype html" (cut content 2000) re.IGNORECASE)))

;; * Streams that are none

(defn cut-off [request seen cause]
  "Return the error for a stream that ended early, because of CAUSE, after SEEN events."
  (setv name (get (get request "provider") "name"))
  (ProviderError "network" f"{name}: the answer was cut off after {seen} events ({cause}); nothing of it counts as complete."
                 :provider name :text (str cause)))

(defn unfinished [request]
  "Return the error for a stream that ended without the end that its wire prescribes."
  (setv name (get (get request "provider") "name"))
  (ProviderError "protocol" f"{name}: the stream of {(get request "model")} ended in the middle; nothing of it counts as complete."
                 :provider name))

(defn garbled [request why]
  "Return the error for a stream whose content makes no sense because of WHY."
  (setv name (get (get request "provider") "name"))
  (ProviderError "protocol" f"{name}: the stream of {(get request "model")} makes no sense: {why}" :provider name))

(defn idle [request seconds]
  "Return the error for a stream that was silent for SECONDS."
  (setv name (get (get request "provider") "name"))
  (ProviderError "network" f"{name} sent nothing for {seconds :g} seconds; the request was given up." :provider name))

(defn unusable [request why]
  "Return the error for a request that cannot be sent, because of WHY."
  (setv name (get (get request "provider") "name"))
  (ProviderError "invalid-request" f"{name}: {why}" :provider name))

(defn _json [text]
  "Return the value of the JSON TEXT, or TEXT if it is none."
  (try
    (json.loads text)
    (except [[ValueError RecursionError]] text)))

(defn _title [page]
  "Return the title of the HTML PAGE, or None."
  (when (setx found (re.search r"<title[^>]*>(.*?)</title>" page (| re.IGNORECASE re.DOTALL)))
    (short (.group found 1))))


;; * Ways out

(defn hint [kind request said [status None]]
  "Return a sentence, with a blank before it, on what to do about a failure of KIND that SAID something, or nothing."
  (setv form (get request "provider")
        name (get form "name")
        missing (or (in "model_not_found" (get said "names"))
                    (and (= status 404) (re.search "model" (get said "message") re.IGNORECASE))))
  (cond
    (= kind "auth") (+ " " (key-hint form))
    missing f" The model {(get request "model")} is not served there; choose another with (model \"...\")."
    (= status 404) (where-url request)
    (= kind "overflow") " The conversation is too long for the model: start a (new) one, or choose a model with a larger window."
    (= kind "quota") (+ f" The account of {name} has nothing left. "
                        (if (get said "wait") f"Come back {(waits.moment (get said "wait"))}, or choose" "Choose")
                        " another provider with (model ...).")
    (= kind "invalid-request") " It was not sent again; (model ...) chooses another model, (new) begins without this history."
    (= kind "refusal") " Put it differently, or choose another model with (model ...)."
    True ""))

(defn key-hint [form]
  "Return the sentence on what to do about the key of the provider FORM, which was refused or is missing."
  (setv name (get form "name"))
  (match (credentials.source form)
    "variable" f"The key from {(get form "key_variable")} was refused; set another and start again."
    "kept" f"The key that is kept for {name} was refused; (auth \"{name}\") takes another."
    "sign-in" f"The sign-in to {name} was refused; (auth \"{name}\") signs in again."
    _ f"There is no key: {(credentials.way-in form)}."))

(defn place [request]
  "Return where the provider of REQUEST is."
  (or (credentials.base-url (get request "provider")) "built in"))

(defn where-url [request]
  "Return the sentence that asks whether the base URL is right, and says where it came from."
  (setv form (get request "provider"))
  (+ f" Is the base URL {(credentials.base-url form)} right?" (who-sets-url form)))

(defn who-sets-url [form]
  "Return the sentence that says where the base URL of FORM comes from."
  (setv variable (.get form "base_url_variable"))
  (if variable f" {variable} sets it." " The provider form sets it."))
