"Make and read neutral items: what history consists of, whatever provider it came from.

An item is a map with a \"type\":

    message               role (user, assistant), content (blocks), phase? (assistant; Responses), origin? raw? (see below)
    reasoning             text (may be shown), origin, raw (the wire's own object, replayed unchanged to the same origin only)
    function_call         call_id, name, arguments (a map) or arguments_text (no JSON object), truncated? raw? origin?
    function_call_output  call_id, ok, content (blocks)
    hosted                origin, raw: a provider's own tool item, replayed to the same origin only

A block is {\"type\" \"text\" \"text\" s}, {\"type\" \"refusal\" \"text\" s} or {\"type\" \"image\" \"mime\" m \"path\" p \"label\" \"[Image #1]\"}.
An origin is \"provider/model\". An assistant's message has `raw` (the wire's blocks, a list) where its text alone would lose
something that the same origin wants back, such as citations.

A reason in a `done` event is one of these where the wire's own word means it: stop, length, calls, content-filter,
context-window, pause, refusal; else the wire's own word."

(defn text-block [text]
  "Return the block of TEXT."
  {"type" "text" "text" text})

(defn refusal-block [text]
  "Return the block of a refusal in the words TEXT."
  {"type" "refusal" "text" text})

(defn image-block [path mime [label None]]
  "Return the block of the image in the prepared file PATH of type MIME, called LABEL."
  {"type" "image" "mime" mime "path" (str path) "label" label})

(defn blocks [content]
  "Return CONTENT, a string, a block or a list of both, as a list of blocks."
  (cond
    (isinstance content str) [(text-block content)]
    (isinstance content dict) [content]
    True (lfor c content b (blocks c) b)))

(defn message [role content #** more]
  "Return a message of ROLE with CONTENT (as for `blocks`) and the fields MORE."
  {"type" "message" "role" role "content" (blocks content) #** more})

(defn user [content]
  "Return a message of the user with CONTENT."
  (message "user" content))

(defn assistant [content #** more]
  "Return a message of the assistant with CONTENT and the fields MORE."
  (message "assistant" content #** more))

(defn reasoning [text origin raw]
  "Return the reasoning TEXT from ORIGIN, kept there as RAW."
  {"type" "reasoning" "text" text "origin" origin "raw" raw})

(defn call [call-id name arguments #** more]
  "Return a call of the tool NAME with ARGUMENTS, a map or the text that is none, and the fields MORE."
  {"type" "function_call" "call_id" call-id "name" name
   #** (if (isinstance arguments str) {"arguments_text" arguments} {"arguments" arguments})
   #** more})

(defn output [call-id content * [ok True]]
  "Return the output of the call CALL-ID: CONTENT (as for `blocks`), a success if OK."
  {"type" "function_call_output" "call_id" call-id "ok" ok "content" (blocks content)})

(defn hosted [origin raw]
  "Return the item RAW of a tool that the provider ORIGIN runs itself."
  {"type" "hosted" "origin" origin "raw" raw})

(defn origin [request]
  "Return the origin of what answers REQUEST."
  (+ (get (get request "provider") "name") "/" (get request "model")))


;; * Reading

(defn text [item]
  "Return what ITEM says, without images and refusals."
  (if (= (get item "type") "reasoning")
    (get item "text")
    (.join "" (lfor b (.get item "content" []) :if (= (get b "type") "text") (get b "text")))))

(defn call? [item]
  "Tell whether ITEM is a call."
  (= (get item "type") "function_call"))

(defn calls [history]
  "Return the calls among the items HISTORY that may be run."
  (lfor i history :if (call? i) :if (not (.get i "truncated")) i))

(defn arguments [item]
  "Return the arguments of the call ITEM as a map, or None if they were none."
  (.get item "arguments"))

(defn refused? [item]
  "Tell whether ITEM is a message in which the model refused."
  (and (= (get item "type") "message")
       (any (gfor b (get item "content") (= (get b "type") "refusal")))))

(defn assistant? [item]
  "Tell whether ITEM is the assistant's doing."
  (cond
    (= (get item "type") "message") (= (get item "role") "assistant")
    True (!= (get item "type") "function_call_output")))
