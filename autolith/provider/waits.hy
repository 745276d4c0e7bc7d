"Read how long a provider asks to wait: in headers, in the fields of an error, in prose; and say so to people.

Seconds are floats, not below 0 and at most `longest`; whatever is no such number is None."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  math
  re
  autolith.base [text :as prose])

(defparameter longest (* 366 86400) "The longest wait, in seconds, that is taken for meant.")

(setv UNITS {"ms" 0.001 "s" 1 "m" 60 "h" 3600 "d" 86400}
      UNIT r"(milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])"
      PIECE (re.compile (+ r"(\d+(?:\.\d+)?) ?" UNIT) re.IGNORECASE)
      PROSE (re.compile (+ r"(?:try again|retry|retrying|please wait|wait(?:ing)? at least|resets?)(?: your request)?(?: in| after| for)?[: ]+"
                           r"((?:\d+(?:\.\d+)? ?" UNIT r"(?:,? and |, | )?)+)")
                        re.IGNORECASE)
      RESETS ["x-ratelimit-{}-requests" "x-ratelimit-{}-tokens" "anthropic-ratelimit-requests-{}" "anthropic-ratelimit-tokens-{}"
              "anthropic-ratelimit-input-tokens-{}" "anthropic-ratelimit-output-tokens-{}" "x-ratelimit-{}" "ratelimit-{}"])


(defn asked [headers [told None] [limited False]]
  "Return the seconds that HEADERS, or else TOLD, what the error itself says, ask to wait, or None. Where the request was LIMITED
the times at which used-up limits are reset count too."
  (setv header (.get headers "retry-after"))
  (next (gfor found [(thousandth (.get headers "retry-after-ms"))
                     (seconds header) (duration header) (until header headers)
                     told (if limited (reset headers) None)]
              :if (is-not found None)
              found)
        None))

(defn seconds [value]
  "Return the number of seconds that VALUE, a number or its text, is, or None."
  (try
    (setv count (float value))
    (except [[TypeError ValueError OverflowError]] (return None)))
  (if (and (math.isfinite count) (<= count longest)) (max 0.0 count) None))

(defn thousandth [value]
  "Return the seconds in VALUE, a number of milliseconds or its text, or None."
  (setv count (seconds value))
  (if (is count None) None (/ count 1000)))

(defn duration [value]
  "Return the seconds that VALUE, a text such as 1m30.5s or 6 hours, amounts to, or None where it is no such text."
  (when (isinstance value str)
    (setv rest (re.sub r"\band\b|,| " "" (.sub PIECE "" value)))
    (when (and (.search PIECE value) (not rest))
      (seconds (total value)))))

(defn total [value]
  "Return the sum of the times in the text VALUE."
  (sum (gfor [count unit] (.findall PIECE value)
             (* (float count) (get UNITS (if (.startswith (.lower unit) #("ms" "mil")) "ms" (.lower (get unit 0))))))))

(defn in-words [text]
  "Return the seconds that the sentence in TEXT asks to wait, or None."
  (when (setx found (.search PROSE (cut text 5000)))
    (seconds (total (.group found 1)))))

(defn in-object [inner]
  "Return the seconds that INNER, the map of an error, asks to wait: by a field, by its details, or in its words."
  (setv fields [(.get inner "resets_in_seconds") (.get inner "retry_after") (.get inner "retry_after_seconds")]
        details (.get inner "details")
        delays (if (isinstance details list)
                 (lfor d details :if (isinstance d dict) (duration (.get d "retryDelay")))
                 []))
  (next (gfor found [#* (map seconds fields) (since (.get inner "resets_at")) #* delays (in-words (str (.get inner "message")))]
              :if (is-not found None)
              found)
        None))


;; * Points in time

(defn since [point]
  "Return the seconds until POINT, in seconds (or milliseconds) after 1970 or as a date with a time, or None."
  (import datetime time)
  (try
    (setv stamp (float point)
          stamp (if (> stamp 1e11) (/ stamp 1000) stamp))
    (except [[TypeError ValueError]]
      (try
        (setv stamp (.timestamp (datetime.datetime.fromisoformat point)))
        (except [[TypeError ValueError OverflowError]] (return None)))))
  (if (> stamp 1e9) (seconds (- stamp (time.time))) None))

(defn until [date headers]
  "Return the seconds until the HTTP DATE by the clock of the server where HEADERS tell it, or None."
  (setv point (stamp date)
        here (stamp (.get headers "date")))
  (cond
    (is point None) None
    (is here None) (since point)
    True (seconds (- point here))))

(defn stamp [date]
  "Return the HTTP DATE in seconds after 1970, or None."
  (import datetime email.utils)
  (try
    (setv point (email.utils.parsedate-to-datetime date))
    (.timestamp (if point.tzinfo point (.replace point :tzinfo datetime.timezone.utc)))
    (except [[TypeError ValueError OverflowError AttributeError]] None)))

(defn reset [headers]
  "Return the seconds until the last of the limits that HEADERS say is used up is reset, or None."
  (max (gfor name RESETS
             :if (in (.get headers (.format name "remaining")) ["0" "0.0" "-1"])
             :setv value (.get headers (.format name "reset"))
             :setv found (next (gfor f [since duration seconds] :setv n (f value) :if (is-not n None) n) None)
             :if (is-not found None)
             found)
       :default None))


;; * For people

(defn moment [wait]
  "Return when it is, WAIT seconds from now, for people: in 3 min 20 s (at 14:05)."
  (import datetime)
  (setv then (+ (datetime.datetime.now) (datetime.timedelta :seconds wait))
        day (if (< wait 43200) "" (+ (.strftime then "%Y-%m-%d") " ")))
  f"in {(prose.duration (math.ceil wait))} (at {day}{(.strftime then (if (< wait 600) "%H:%M:%S" "%H:%M"))})")
