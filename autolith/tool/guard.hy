"What a model's call may do in this process: the read-only mode, and the immutable image.

These bind calls whose origin is the model; what the user types is his own. A later room of permissions asks before effects;
it stands in this place."

(import
  autolith.base [conditions]
  autolith.state [settings])

(defclass Refused [conditions.AutolithError]
  "A call that the session's mode does not allow."
  None)

(defn check [tool caller]
  "Raise Refused if CALLER, a ToolContext, may not run TOOL in the session's mode."
  (setv reason (when (= caller.origin "model") (why-not tool.name (get tool.traits "effect"))))
  (when reason
    (raise (Refused reason)))
  None)

(defn why-not [name effect]
  "Return why a model may not run the tool NAME, whose effect is EFFECT, now; or None."
  (cond
    (= effect "read") None
    (= (settings.value "permission-mode") "plan")
      f"this session only reads (--permissions plan), and {name} does more; say what you would do instead"
    (and (settings.value "immutable") (.startswith name "self."))
      f"the program may not be changed in this session (--immutable), so {name} is off"
    True None))
