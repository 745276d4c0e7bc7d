"Say what went wrong with a provider, and what to do about it.

A ProviderError has a `kind`: auth, quota, rate-limit, overloaded, overflow, invalid-request, refusal, network or protocol;
and `status` (HTTP, or None), `retry-after` (seconds, or None), `provider` (its name), `text` (the provider's own words), `retryable`.
Every error of every wire is classified here, by `classify`: from an HTTP answer (`from-response`) as well as from an error event
inside a stream (`from-event`)."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  json
  re
  autolith.base [conditions]
  autolith.provider [credentials])

(defparameter longest-message 1000
  "How many characters of a provider's own words are shown.")

(defparameter retryable-kinds #("rate-limit" "overloaded" "network" "protocol")
  "The kinds of failure that the same request may survive when it is sent again.")


(defclass ProviderError [conditions.AutolithError]
  "A request to PROVIDER failed in the way KIND."

  (defn __init__ [self kind message * [status None] [retry-after None] [provider None] [text ""] [retryable None]]
    (.__init__ (super) (credentials.redact message))
    (setv self.kind kind
          self.status status
          self.retry-after retry-after
          self.provider provider
          self.text (credentials.redact text)
          self.retryable (if (is retryable None) (in kind retryable-kinds) retryable))))


;; * Classes

(setv RULES
      [#("quota" r"insufficient_quota|exceeded your current quota|billing|credit balance|payment|usage limit|spend(ing)? limit")
       #("overflow" (+ r"context_length_exceeded|exceed_context_size|prompt is too long|maximum context length|context window|context size"
                       r"|too many (input )?tokens|request_too_large|input is too long|exceeds the (available )?context|reduce the length"))
       #("refusal" r"content_policy|content_filter|responsible_ai|safety_violation|cyber_policy|\brefusal\b")
       #("auth" r"authentication_error|invalid_api_key|incorrect api key|permission_error|unauthorized|invalid x-api-key|no auth credentials")
       #("overloaded" (+ r"overloaded|slow_down|server_error|internal_error|api_error|unavailable|bad gateway|tool_use_failed"
                         r"|engine is currently|timeout_error|try again later"))
       #("rate-limit" r"rate_limit|rate limit|rate-limited|too many requests|resource_exhausted")
       #("invalid-request" r"invalid_request|not_found|model_not_found|unsupported|invalid_value|bad request|does not exist")])

(setv STATUSES {401 "auth" 402 "quota" 403 "auth" 404 "invalid-request" 408 "network" 409 "overloaded" 413 "overflow"
                425 "overloaded" 429 "rate-limit" 529 "overloaded"})

(defn classify [status words]
  "Return the kind of a failure with the HTTP STATUS (or None) that calls itself WORDS, its type, code and message."
  (setv told (next (gfor [kind pattern] RULES :if (re.search pattern words re.IGNORECASE) kind) None))
  (cond
    (is status None) (or told "protocol")
    (in told ["quota" "overflow" "refusal"]) told
    (and (= status 400) (in told ["overloaded" "rate-limit" "auth"])) told
    (in status STATUSES) (get STATUSES status)
    (>= status 500) "overloaded"
    (>= status 400) "invalid-request"
    True "protocol"))

(defn parts [value]
  "Return #(words message code) of the error object VALUE: all that names it, what it says, a number if its code is one."
  (setv inner (if (isinstance value dict) (or (.get value "error") (.get value "response") value) value))
  (when (and (isinstance inner dict) (isinstance (.get inner "error") dict))
    (setv inner (get inner "error")))
  (when (not (isinstance inner dict))
    (return #((str inner) (str inner) None)))
  (setv message (or (.get inner "message") (.get inner "detail") (.get inner "error_description") "")
        message (if (isinstance message str) message (json.dumps message))
        metadata (.get inner "metadata")
        raw (if (isinstance metadata dict) (.get metadata "raw") None)
        code (.get inner "code")
        words (.join " " (gfor v [(.get inner "type") code message] :if v (str v))))
  (when (isinstance raw str)
    (setv message f"{message}: {raw}"
          words f"{words} {raw}"))
  (when (not message)
    (setv message (json.dumps inner :ensure-ascii False)))
  #(words message (if (and (isinstance code int) (<= 400 code 599)) code None)))

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


;; * When to try again

(setv _UNITS {"ms" 0.001 "s" 1 "m" 60 "h" 3600}
      _AGAIN (re.compile (+ r"(?:try again|retry) (?:in|after) "
                            r"((?:[\d.]+ ?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)(?![a-z]) ?)+)")
                         re.IGNORECASE))

(defn retry-after [headers text]
  "Return how many seconds HEADERS, or else TEXT, ask to wait, or None."
  (setv milliseconds (_number (.get headers "retry-after-ms"))
        seconds (_number (.get headers "retry-after")))
  (cond
    (is-not milliseconds None) (/ milliseconds 1000)
    (is-not seconds None) seconds
    (.get headers "retry-after") (_until (.get headers "retry-after"))
    (setx found (.search _AGAIN text)) (_sum (.group found 1))))

(defn _number [text]
  "Return the number that TEXT is, not below 0, or None."
  (try
    (max 0.0 (float text))
    (except [[TypeError ValueError]] None)))

(defn _until [date]
  "Return the seconds until the HTTP DATE, or None."
  (import datetime email.utils)
  (try
    (setv when-that (email.utils.parsedate-to-datetime date))
    (max 0.0 (.total-seconds (- when-that (datetime.datetime.now when-that.tzinfo))))
    (except [[TypeError ValueError]] None)))

(defn _sum [text]
  "Return the seconds that TEXT, such as 1m30.5s, amounts to."
  (sum (gfor [n unit] (re.findall r"([\d.]+) ?(ms|milli|s|m|h)" text)
             (* (or (_number n) 0) (get _UNITS (if (= unit "milli") "ms" unit))))))


;; * Making one

(defn from-event [request value]
  "Return the error that the event VALUE, an object, inside the stream for REQUEST means."
  (setv [words message code] (parts value)
        name (get (get request "provider") "name")
        kind (classify code words))
  (ProviderError kind f"{name} reported an error while it answered: {(sentence message)}{(hint kind request message)}"
                 :status code :provider name :text (short message) :retry-after (retry-after {} message)))

(defn from-response [request status headers content url]
  "Return the error that the HTTP answer STATUS HEADERS CONTENT (text, perhaps cut) from URL means for REQUEST."
  (setv name (get (get request "provider") "name"))
  (when (<= 300 status 399)
    (return (ProviderError "invalid-request" (+ f"{name}: {url} sends on to {(.get headers "location" "nowhere")} (HTTP {status})."
                                                (where-url request))
                           :status status :provider name)))
  (setv [words message _] (parts (_json content))
        page (in "<html" (.lower (cut content 2000)))
        message (if page (or (_title content) "a web page") message)
        kind (classify status (if page "" words))
        retry (.get {"true" True "false" False} (.get headers "x-should-retry")))
  (ProviderError kind f"{name} answered HTTP {status}: {(sentence message)}{(hint kind request message status words)}"
                 :status status :provider name :text (short message) :retryable retry
                 :retry-after (retry-after headers message)))

(defn not-a-stream [request headers content url]
  "Return the error for an answer from URL with status 200 that is no event stream."
  (setv name (get (get request "provider") "name")
        value (_json content))
  (when (and (isinstance value dict) (.get value "error"))
    (return (from-event request value)))
  (setv what (if (in "<html" (.lower (cut content 2000)))
               f"a web page ({(or (_title content) "without a title")})"
               f"{(.get headers "content-type" "something without a type")}: {(cut (short content) 200)}"))
  (ProviderError "protocol" f"{name}: {url} did not answer with a stream of events but with {what}.{(where-url request)}"
                 :status 200 :provider name :text (cut (short content) 200) :retryable False))

(defn unreachable [request url cause]
  "Return the error for a connection to URL that failed because of CAUSE."
  (setv name (get (get request "provider") "name")
        local (re.match r"https?://(localhost|127\.|\[::1\]|0\.0\.0\.0)" url)
        why (or (str cause) (. (type cause) __name__)))
  (ProviderError "network" (+ f"{name} cannot be reached at {url}: {(sentence why)}"
                              (cond
                                (in "CERTIFICATE" (.upper why)) " SSL_CERT_FILE can name the certificates to trust."
                                local " Is a server running there?"
                                True " Is the network up?")
                              (where-url request))
                 :provider name :text (str cause)))

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

(defn hint [kind request message [status None] [words ""]]
  "Return a sentence, with a blank before it, on what to do about a failure of KIND, or nothing."
  (setv form (get request "provider")
        variable (.get form "key_variable"))
  (cond
    (and (= kind "auth") variable (not (credentials.key form))) f" There is no key: set {variable} and start again."
    (and (= kind "auth") variable) f" The key from {variable} was refused; set another and start again."
    (= kind "auth") f" The provider form of {(get form "name")} names no variable for a key: give it a :key-variable."
    (and (= status 404) (not (re.search r"model" f"{words} {message}" re.IGNORECASE))) (where-url request)
    (= status 404) f" The model {(get request "model")} is not served there; choose another with (model \"...\")."
    (= kind "overflow") " The conversation is too long for the model: start a (new) one, or choose a model with a larger window."
    (= kind "quota") f" The account of {(get form "name")} has nothing left."
    True ""))

(defn where-url [request]
  "Return the sentence that asks whether the base URL is right, and says where it came from."
  (setv form (get request "provider"))
  (+ f" Is the base URL {(credentials.base-url form)} right?" (who-sets-url form)))

(defn who-sets-url [form]
  "Return the sentence that says where the base URL of FORM comes from."
  (setv variable (.get form "base_url_variable"))
  (if variable f" {variable} sets it." " The provider form sets it."))
