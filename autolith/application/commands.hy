"Commands: what the user tells the program, as (NAME ...) or /NAME.

A command is declared once, by `defcommand`; help, completion, the slash spelling and the rule whether it may run beside a
turn come from that declaration. Traits are a map: beside (always, safe-point, idle), slash (none, first, remainder),
aliases (names)."

(eval-when-compile (require autolith.base.macros [defonce restart-case]))
(import
  importlib
  inspect
  re
  autolith.base [conditions forms]
  autolith.image [namespace registries])

(setv DEFAULTS {"beside" "idle" "slash" "none" "aliases" []}
      BESIDE ["always" "safe-point" "idle"]
      SLASH ["none" "first" "remainder"])

(defonce commands {} "Name -> Command.")
(defonce packaged {} "Name -> the attributes that a module in `sources` gave the command.")
(defonce sources ["autolith.application.builtin" "autolith.application.builtin_model" "autolith.application.builtin_auth"]
  "The modules that define the packaged commands, imported when one is looked for.")

(defclass WrongArguments [conditions.AutolithError]
  "A command was called with arguments that it does not take."
  None)

(defclass Text [str]
  "Text that the prompt prints as it is instead of as a string literal."
  (defn __autolith_text__ [self] (str self)))

(defclass Command []
  "A command, for good: a redefinition replaces its `function` and what is derived from it."

  (defn __init__ [self name] (setv self.name name))

  (defn install [self function traits]
    "Make FUNCTION with TRAITS what this command does."
    (setv self.function function
          self.traits (| DEFAULTS traits)
          self.signature (inspect.signature function)
          self.__doc__ function.__doc__))

  (defn __call__ [self #* args #** kwargs]
    "Run the command; with wrong arguments, offer to supply others."
    (setv fault (_misfit self.signature args kwargs))
    (if (is fault None)
      (self.function #* args #** kwargs)
      (restart-case
        (conditions.signal (WrongArguments f"({self.name} ...): {fault}. It is called as {(lambda-list self.name self.signature)}"
                                           [#("supply-arguments" "call it with the arguments that you give instead")]))
        (supply-arguments [#* others]
          "Call it with other arguments; a list of them, as [\"a\" 1], when there are several."
          (self #* (_spread others))))))

  (defn __repr__ [self] f"<command {self.name}>"))

(defn _spread [values]
  "The arguments that VALUES, supplied by a restart, stand for: one list is the list of them."
  (if (and (= (len values) 1) (isinstance (get values 0) list)) (get values 0) values))

(defn _misfit [signature args kwargs]
  "What is wrong with ARGS and KWARGS for SIGNATURE, in words, or None."
  (try
    (.bind signature #* args #** kwargs)
    None
    (except [e TypeError] (str e))))

(defn enter [name function [traits None]]
  "Make or change the command NAME; return its Command. Unknown traits are refused."
  (setv traits (dfor [k v] (.items (or traits {}))
                     (str (hy.mangle (if (isinstance k hy.models.Keyword) k.name k))) v)
        odd (lfor k traits :if (not-in k DEFAULTS) k))
  (when odd (raise (ValueError f"defcommand {name}: unknown trait {(.join ", " odd)}")))
  (when (not-in (.get traits "beside" "idle") BESIDE)
    (raise (ValueError f"defcommand {name}: beside is one of {(.join ", " BESIDE)}")))
  (when (not-in (.get traits "slash" "none") SLASH)
    (raise (ValueError f"defcommand {name}: slash is one of {(.join ", " SLASH)}")))
  (when (not (re.fullmatch r"[a-z][a-z0-9-]*" name))
    (raise (ValueError f"defcommand {name}: a name is lower-case letters, digits and hyphens")))
  (setv command (or (.get commands name) (Command name)))
  (.install command function traits)
  (setv (get commands name) command)
  (when (in function.__module__ sources)
    (setv (get packaged name) (dict command.__dict__)))
  command)

(defn load []
  "Import the packaged commands, unless that has happened."
  (for [path sources] (importlib.import-module path))
  None)

(defn all-commands []
  "Return every Command, sorted by name."
  (load)
  (lfor name (sorted commands) (get commands name)))

(defn find [name]
  "Return the Command called NAME, or by that alias, in any case; or None."
  (load)
  (setv name (.lower name))
  (or (.get commands name)
      (next (gfor c (.values commands) :if (in name (get c.traits "aliases")) c) None)))

(defn snapshot []
  "Return what `restore` needs to bring the table of commands back."
  (dfor [name c] (.items commands) name #(c (dict c.__dict__))))

(defn restore [saved]
  "Make the table of commands what it was when SAVED was taken; packaged ones loaded since return to what they were."
  (setv before (dict commands))
  (.clear commands)
  (for [[name attributes] (.items packaged)]
    (_reset name (get before name) attributes))
  (for [[name [command attributes]] (.items saved)]
    (_reset name command attributes))
  None)

(defn _reset [name command attributes]
  "Enter COMMAND as NAME, with ATTRIBUTES."
  (.clear command.__dict__)
  (.update command.__dict__ attributes)
  (setv (get commands name) command))

;; * The slash spelling

(defn slash-form [text]
  "Return the form that the slash line TEXT means, as {\"name\" \"source\"}, or None when it is no such line."
  (setv m (re.match r"/([A-Za-z][A-Za-z0-9-]*)(?:\s+(.*))?\s*\Z" text re.DOTALL))
  (when m
    (setv [name rest] (.groups m) rest (.strip (or rest "")) command (find name))
    {"name" name
     "known" (is-not command None)
     "source" (_slash-source (_operator (if command command.name name)) (if command (get command.traits "slash") "remainder") rest)}))

(defn _operator [name]
  "What stands for the command NAME in a form: the name, or a look-up where the user bound the name to something else."
  (if (in (hy.mangle name) (vars (namespace.user)))
    f"(hy.I.autolith/application/commands.find {(forms.write name)})"
    name))

(defn _slash-source [name mode rest]
  "The form that calls NAME, a symbol or a call that gives the command, with REST, the text after the slash word, taken by MODE."
  (cond
    (not rest) f"({name})"
    (= mode "first") (.format "({} {})" name (.join " " (map forms.write (.split rest))))
    True f"({name} {(forms.write rest)})"))

;; * Signatures

(defn lambda-list [name signature]
  "Return SIGNATURE as the call of NAME in Hy: (name a [b 1] * [c None] #* rest)."
  (setv parts [] starred False)
  (for [p (.values signature.parameters)]
    (when (and (= p.kind p.KEYWORD-ONLY) (not starred))
      (.append parts "*"))
    (setv starred (or starred (in p.kind [p.KEYWORD-ONLY p.VAR-POSITIONAL])))
    (.append parts (_parameter p)))
  (.format "({})" (.join " " [name #* parts])))

(defn _parameter [p]
  "The parameter P as it stands in a lambda list."
  (setv name (hy.unmangle p.name))
  (cond
    (= p.kind p.VAR-POSITIONAL) f"#* {name}"
    (= p.kind p.VAR-KEYWORD) f"#** {name}"
    (is p.default p.empty) name
    True f"[{name} {(hy.repr p.default)}]"))

(registries.register "commands" snapshot restore)
