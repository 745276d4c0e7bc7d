"Sort the failures of providers: one table, and the reading of the error objects that all wires send.

A class is a map:

    kind      auth, quota, rate-limit, overloaded, overflow, invalid-request, refusal, network, protocol or cancelled
    again     whether the same request may succeed when it is sent once more
    statuses  the HTTP statuses that mean it where nothing more exact is said
    names     a pattern of the types and codes that mean it
    words     a pattern of the sentences that mean it
    vague     a pattern of the types that mean it only where the sentence says nothing else

An error as `read` gives it is {\"names\" [type, code ...] \"message\" str \"status\" a number or None \"wait\" seconds or None}."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  json
  re
  autolith.provider [waits])

(defparameter table
  [{"kind" "cancelled" "again" False "statuses" [499]
    "names" r"\bcancell?ed\b|request_cancell?ed"
    "words" r"(request|response|operation) was cancell?ed"}
   {"kind" "quota" "again" False "statuses" [402]
    "names" (+ r"insufficient_(quota|balance|credits|funds)|billing_(error|hard_limit|not_active)|usage_limit_reached|usage_not_included"
               r"|payment_required|credits_exhausted")
    "words" (+ r"exceeded your current quota|credit balance|insufficient (quota|credits|balance|funds)|(usage|spend(ing)?) limit"
               r"|billing (details|hard limit|issue)|payment (is )?required|payment method|out of credits")}
   {"kind" "overflow" "again" False "statuses" [413]
    "names" r"context_length_exceeded|context_window_exceeded|exceed_context_size|request_too_large|model_max_prompt_tokens_exceeded"
    "words" (+ r"prompt (is )?too long|maximum (context|prompt) length|context (window|size|limit|length)|input is too long"
               r"|too many (input )?tokens(?!, please wait)|exceeds the (available )?context|exceeded model token limit"
               r"|input token count|reduce the length|longer than the model|larger than the .{0,20}context"
               r"|(inputs? tokens|max_new_tokens).{0,40}must be <=|token count of \d+ exceeds the limit"
               r"|request too large for .{0,120}limit \d+, requested")}
   {"kind" "refusal" "again" False "statuses" []
    "names" r"content_policy|content_filter|responsible_ai|safety_violation|cyber_policy|invalid_prompt|data_inspection_failed|\brefusal\b"
    "words" r"content (management )?policy|content_filter|usage polic|safety system|violat\w+ (our|the) .{0,20}polic"}
   {"kind" "rate-limit" "again" True "statuses" [429]
    "names" r"rate_?limit|too_many_requests|resource_exhausted|throttl"
    "words" r"rate[- ]?limit|too many requests|too many tokens, please wait|(tokens|requests) per (min|day)|resource.exhausted"}
   {"kind" "auth" "again" False "statuses" [401 403]
    "names" (+ r"authentication|invalid_api_key|invalid_authentication|permission_error|permission_denied|unauthori[sz]ed"
               r"|unauthenticated|access_denied|token_expired|token_invalidated")
    "words" r"incorrect api key|invalid (x-)?api.?key|api key not valid|no auth credentials|no cookie auth"}
   {"kind" "overloaded" "again" True "statuses" [409 425 529]
    "names" r"overloaded|slow_down|unavailable|internal_server_error|timeout_error|gateway_timeout|tool_use_failed"
    "words" r"overloaded|unavailable|bad gateway|engine is currently|try again later|at capacity|internal server error|upstream error"
    "vague" r"server_error|api_error|internal(_error)?\b"}
   {"kind" "network" "again" True "statuses" [408]
    "names" r"request_timeout|connection_(error|reset|closed)"}
   {"kind" "invalid-request" "again" False "statuses" [400 404 405 406 410 411 414 415 422]
    "names" r"model_not_found|unsupported|invalid_value|invalid_type|missing_required"
    "words" r"does not exist|bad request|unsupported|not supported"
    "vague" r"invalid_request|invalid_argument|not_found|bad_?request"}
   {"kind" "protocol" "again" True "statuses" []}]
  "The classes of failures; of two that both fit, the first counts.")

(setv DECISIVE ["cancelled" "quota" "overflow" "refusal"])   ; these hold whatever the HTTP status says

(defn again? [kind]
  "Tell whether the same request may succeed after a failure of KIND."
  (any (gfor row table :if (= (get row "kind") kind) (get row "again"))))

(defn told [names message]
  "Return the kind that an error's NAMES, its types and codes, or else its MESSAGE tell, or None."
  (setv titles (.join " " (map str names))
        code (if (re.search r"\s" (.strip message)) "" message))       ; some servers say nothing but a code
  (or (named "names" titles) (named "words" message) (named "names" code)
      (named "vague" titles) (named "vague" code)))

(defn named [column text]
  "Return the kind of the first class whose pattern in COLUMN occurs in TEXT, or None."
  (next (gfor row table
              :if (and (.get row column) (re.search (get row column) text re.IGNORECASE))
              (get row "kind"))
        None))

(defn classify [status names [message ""]]
  "Return the kind of a failure with the HTTP STATUS, or None, whose type and code are NAMES and which says MESSAGE."
  (setv kind (told names message)
        own (next (gfor row table :if (in status (get row "statuses")) (get row "kind")) None))
  (cond
    (is status None) (or kind "protocol")
    (= status 413) "overflow"
    (in kind DECISIVE) kind
    (and (= status 400) kind) kind
    own (if (and (= own "rate-limit") (= kind "overloaded")) kind own)
    (>= status 500) "overloaded"
    (>= status 400) "invalid-request"
    True (or kind "protocol")))


;; * Error objects

(defn read [value]
  "Return what the error object VALUE, of whatever wire, says: its names, message, status and wait."
  (setv inner (innermost value))
  (when (not (isinstance inner dict))
    (setv text (if (isinstance inner str) inner (json.dumps inner)))
    (return {"names" [] "message" text "status" None "wait" (waits.in-words text)}))
  (setv [message raw] (sentences inner)
        code (number (.get inner "code"))
        names (lfor v [(.get inner "type") (.get inner "code") (.get inner "status") (.get inner "reason")]
                    :if (isinstance v str) v))
  {"names" names
   "message" (if raw f"{message}: {raw}" (or message (json.dumps inner :ensure-ascii False)))
   "status" (if (and code (<= 400 code 599)) code None)
   "wait" (waits.in-object inner)})

(defn innermost [value]
  "Return the map in VALUE that says what failed: below `error`, `response`, `errors` or in a list."
  (for [_ (range 6)]
    (setv deeper (cond
                   (isinstance value dict)
                     (next (gfor k ["error" "response" "errors"] :if (.get value k) (get value k)) None)
                   (and value (isinstance value list)) (get value 0)
                   True None))
    (when (or (is deeper None) (and (isinstance deeper str) (.get value "message")))
      (break))
    (setv value deeper))
  value)

(defn sentences [inner]
  "Return #(message raw) of the error map INNER; raw is what a server behind it said, if this one tells."
  (setv message (or (.get inner "message") (.get inner "detail") (.get inner "error_description") "")
        message (if (isinstance message str) message (json.dumps message :ensure-ascii False))
        metadata (.get inner "metadata")
        raw (if (isinstance metadata dict) (.get metadata "raw") None))
  #(message (if (isinstance raw str) raw None)))

(defn number [code]
  "Return CODE as a number if it is one, also written as text; else None."
  (cond
    (isinstance code bool) None
    (isinstance code int) code
    (and (isinstance code str) (.isdecimal code) (< (len code) 6)) (int code)
    True None))
