"Changing a definition while the program runs, so that everybody who holds it sees the change, and the exact way back.

`update` makes an old function, class, property or partial behave as a new one, in place, appending to a log how to take each step
back; what it cannot do in place it leaves to be rebound. `refusal` says beforehand why something must not be tried.

`twins` are what later definitions of a function made and somebody may hold, for example a table; they call the function itself.
`behind` maps an advised function to the function that holds its own behaviour: changes go there, and the advice stays."

(eval-when-compile (require autolith.base.macros [defonce]))

(import
  enum
  functools
  signal
  sys
  threading
  types
  weakref
  hy
  autolith.base [conditions])

(defonce lock (threading.RLock) "Held by every change to the running program; a checkpoint holds it too.")
(defonce twins (weakref.WeakKeyDictionary) "Function -> WeakSet of the functions that later definitions of it made.")
(defonce behind (weakref.WeakKeyDictionary) "Advised function -> the function with its own behaviour.")

(setv PARTS ["__code__" "__defaults__" "__kwdefaults__" "__doc__" "__annotations__" "__qualname__" "__type_params__"]
      STAYS #{"__dict__" "__weakref__" "__module__" "__slots__"}
      ABSENT (object))

(defclass Refused [conditions.AutolithError]
  "A change that cannot be made safely; nothing was changed.")

(defclass deferring []
  "A context in which Ctrl-C on the main thread waits until the end."
  (defn __enter__ [self]
    (setv self.pending False
          self.previous None)
    (when (is (threading.current-thread) (threading.main-thread))
      (setv self.previous (signal.getsignal signal.SIGINT))
      (when (is-not self.previous None)                 ; None: C code handles it, and could not be put back
        (signal.signal signal.SIGINT self.note))))

  (defn note [self number frame]
    "Remember that an interrupt came."
    (setv self.pending True))

  (defn __exit__ [self #* error]
    (when (is-not self.previous None)
      (signal.signal signal.SIGINT self.previous)
      (when (and self.pending (callable self.previous))
        (self.previous signal.SIGINT None)))
    None))


;; * What must not be tried

(defn function? [x]
  "Tell whether X is a function written in Hy or Python."
  (isinstance x types.FunctionType))

(defn refusal [old new]
  "Return why OLD cannot become NEW, neither in place nor by another binding; None if it can."
  (when (and (isinstance old type) (isinstance new type) (not (isinstance old enum.EnumType)) (is-not old new))
    (or (_layout-refusal old new)
        (_bases-refusal old new)
        (next (filter None (gfor [key value] (.items (members new)) (refusal (.get (members old) key) value))) None))))

(defn _layout-refusal [old new]
  "Return why live instances of the class OLD could not be of NEW's layout, or None."
  (setv name old.__name__)
  (cond
    (is-not (type old) (type new)) f"{name}: its metaclass changes; live instances cannot follow. Define the class under another name"
    (!= (slots old) (slots new)) f"{name}: its slots change; live instances cannot follow. Give it no __slots__, or another name"
    (!= old.__basicsize__ new.__basicsize__)
      f"{name}: its layout in memory changes with its bases; live instances cannot follow. Define the class under another name"))

(defn _bases-refusal [old new]
  "Return why the bases of the class OLD cannot become those of NEW, or None. Tried on a class made for it, where that is harmless."
  (setv noticed (any (gfor c old.__mro__ :if (is-not c object) (in "__init_subclass__" (vars c)))))
  (when (and (!= old.__bases__ new.__bases__) (not noticed))
    (try
      (setv probe (type.__new__ (type old) "probe" old.__bases__ {})
            probe.__bases__ new.__bases__)
      None
      (except [e TypeError]
        (_bases-reason old e)))))

(defn _bases-reason [old e]
  "Return in words why the bases of the class OLD cannot change, E being CPython's reason."
  (if (= old.__bases__ #(object))
    f"{old.__name__}: a class whose only base is object cannot get another while it lives; start it with a base of its own"
    f"{old.__name__}: its bases cannot change while it lives ({e}); define the class under another name"))

(defn circle [key old new table]
  "Return why the function OLD, called KEY, would call itself as NEW: another name in TABLE, its globals, means OLD. None if not."
  (when (and (function? old) (function? new) (is-not old new))
    (setv names (sfor name (_global-names new.__code__) :if (and (!= name key) (is (.get table name) old)) name))
    (when names
      (+ f"{(hy.unmangle key)}: {(.join ", " (map hy.unmangle (sorted names)))} is the same function, which changes with it "
         "and would call itself; wrap it by (advise ...) instead"))))

(defn _global-names [code]
  "Yield the names that CODE, and the code in it, look up."
  (yield :from code.co-names)
  (for [part code.co-consts]
    (when (isinstance part types.CodeType)
      (yield :from (_global-names part)))))

(defn slots [cls]
  "Return the names of the slots that the class CLS itself has."
  (sorted (gfor [k v] (.items (vars cls)) :if (isinstance v types.MemberDescriptorType) k)))

(defn members [cls]
  "Return what the class CLS itself defines, by name."
  (dfor [k v] (.items (vars cls))
        :if (not-in k STAYS)
        :if (not (isinstance v #(types.MemberDescriptorType types.GetSetDescriptorType)))
        k v))


;; * In place

(defn update [old new log]
  "Make OLD behave as NEW; False if it has to be rebound instead. Append to LOG how to take each step back."
  (cond
    (is old new) True
    (and (function? old) (function? new)) (update-function old new log)
    (and (isinstance old type) (isinstance new type)) (update-class old new log)
    (is-not (type old) (type new)) False
    (isinstance old #(classmethod staticmethod)) (update old.__func__ new.__func__ log)
    (isinstance old property) (_update-property old new log)
    (isinstance old functools.partial) (_update-partial old new log)
    (and (hasattr old "cache_clear") (hasattr old "cache_parameters")) (_update-cached old new log)
    True False))

(defn _update-property [old new log]
  "Make the functions of the property OLD behave as those of NEW, if both have the same ones."
  (setv pairs (lfor part ["fget" "fset" "fdel"] #((getattr old part) (getattr new part))))
  (when (all (gfor [a b] pairs (or (is a b) (and (function? a) (function? b)))))
    (for [[a b] pairs] (update a b log))
    True))

(defn _update-partial [old new log]
  "Make the partial OLD what NEW is."
  (setv before (get (.__reduce__ old) 2))
  (.append log (fn [] (.__setstate__ old before)))
  (.__setstate__ old (get (.__reduce__ new) 2))
  True)

(defn _update-cached [old new log]
  "Make the cached function OLD cache what NEW does, if the caches are alike."
  (when (and (= (.cache-parameters old) (.cache-parameters new))
             (function? old.__wrapped__) (function? new.__wrapped__))
    (.append log old.cache-clear)
    (.cache-clear old)
    (update old.__wrapped__ new.__wrapped__ log)))

(defn update-function [old new log]
  "Make the function OLD behave as NEW, which forwards to OLD from now on: whoever stored it follows OLD. Returns whether it was done."
  (when (in new (.get twins old [])) (return True))
  (when (_holds? new old) (return False))
  (for [others (list (.values twins))] (.discard others old))
  (change-function old (copied new) log)
  (.add (.setdefault twins old (weakref.WeakSet)) new)
  (align old)
  (.insert log 0 (fn [] (align old)))                   ; taken back last, when OLD is what it was
  True)

(defn _holds? [new old]
  "Tell whether the function NEW calls OLD through its closure or defaults, so that OLD as NEW would call itself."
  (in (id old) (sfor x [#* (map _contents (or new.__closure__ [])) #* (or new.__defaults__ [])
                        #* (.values (or new.__kwdefaults__ {}))]
                     (id x))))

(defn origin [f]
  "Return the function that F, if a later definition of that one made it, forwards to; else F."
  (setv target (.get (or f.__kwdefaults__ {}) "__t__"))
  (if (and (function? target) (in f (.get twins target [])))
    (origin target)
    f))

(defn align [old]
  "Make the functions that later definitions of OLD made, and that somebody still holds, call OLD."
  (for [twin (list (.get twins old []))]
    (forward twin old)))

(defn copied [f]
  "Return a new function that is all that F is."
  (setv g (types.FunctionType f.__code__ f.__globals__ f.__name__ f.__defaults__ f.__closure__))
  (setv g.__kwdefaults__ f.__kwdefaults__  g.__qualname__ f.__qualname__  g.__module__ f.__module__
        g.__doc__ f.__doc__  g.__annotations__ f.__annotations__)
  (.update (vars g) (vars f))
  g)

(defn parts-of [f]
  "Return what makes the function F behave as it does."
  {"parts" (dfor p PARTS :if (hasattr f p) p (getattr f p))
   "attributes" (dict (vars f))})

(defn change-function [old new log]
  "Give the function OLD what makes NEW; of an advised one, its own behaviour."
  (setv target (.get behind old old)
        before (parts-of target)
        parts (dfor p PARTS :if (hasattr new p) p (getattr new p))
        extra {})
  (if (= target.__code__.co_freevars new.__code__.co_freevars)
    (for [[a b] (zip (or target.__closure__ []) (or new.__closure__ []))] (_update-cell a b log))
    (setv extra {"__wrapped__" new}
          parts {#** parts #** (forwarding-parts target new)}))
  (.append log (fn [] (_put old before)))
  (swap target parts)
  (_set-attributes target new extra (get before "attributes"))
  (when (is-not target old) (_show-as old target)))

(defn _set-attributes [target new extra attributes]
  "Give TARGET the attributes of NEW and EXTRA; a function that it wrapped, in ATTRIBUTES, keeps its identity."
  (setv inner (.get attributes "__wrapped__"))
  (.clear (vars target))
  (.update (vars target) {#** (vars new) #** (if (function? inner) {"__wrapped__" inner} {}) #** extra}))

(defn _put [old before]
  "Give the function OLD, or what is behind its advice, the parts BEFORE."
  (setv target (.get behind old old))
  (swap target (get before "parts"))
  (.clear (vars target))
  (.update (vars target) (get before "attributes"))
  (when (is-not target old) (_show-as old target)))

(defn _show-as [old target]
  "Make the advised function OLD look as TARGET, which it calls in the end."
  (setv old.__doc__ target.__doc__
        old.__annotations__ target.__annotations__)
  (.clear (vars old))
  (.update (vars old) {#** (vars target) "__wrapped__" target}))

(defn swap [f parts]
  "Give the function F the PARTS of another; no thread runs between the first three stores."
  (setv code (get parts "__code__")  defaults (get parts "__defaults__")  keywords (get parts "__kwdefaults__"))
  (setv f.__code__ code  f.__defaults__ defaults  f.__kwdefaults__ keywords)
  (for [[p v] (.items parts)]
    (when (not-in p ["__code__" "__defaults__" "__kwdefaults__"])
      (setattr f p v))))

(defn _update-cell [a b log]
  "Give the cell A what is in B; a function in it, as a decorator's, keeps its identity too."
  (setv was (_contents a)
        now (_contents b))
  (when (not (and (function? was) (function? now) (= was.__name__ now.__name__) (update was now log)))
    (.append log (fn [] (_fill a was)))
    (_fill a now)))

(defn _contents [cell]
  "Return what is in CELL, or ABSENT."
  (try cell.cell-contents (except [ValueError] ABSENT)))

(defn _fill [cell value]
  "Put VALUE in CELL; ABSENT empties it."
  (if (is value ABSENT)
    (try (del cell.cell-contents) (except [ValueError]))
    (setv cell.cell-contents value)))


;; * Functions that call another

(defn forward [f target]
  "Make the function F call TARGET, whatever it was."
  (when (is-not f target)
    (swap f (| (dfor p PARTS :if (hasattr target p) p (getattr target p)) (forwarding-parts f target)))
    (setv f.__wrapped__ target)))

(defn forwarding-parts [f target [like None]]
  "Return the parts that make the function F call TARGET, as a function of the kind of LIKE, else of TARGET."
  {"__code__" (forwarding f (or like target))  "__defaults__" None  "__kwdefaults__" {"__t__" target}})

(defn forwarding [f like]
  "Return code that has the free variables of the function F, is of the kind of LIKE, and calls what it finds as __t__."
  (setv names f.__code__.co_freevars
        flags like.__code__.co_flags
        scope {}
        [head body] (cond (& flags 0x200) #("async def" "async for x in __t__(*__a, **__k): yield x")
                          (& flags 0x80) #("async def" "return await __t__(*__a, **__k)")
                          (& flags 0x20) #("def" "return (yield from __t__(*__a, **__k))")
                          True #("def" "return __t__(*__a, **__k)"))
        text (.join "\n" ["def make():"
                          (+ " " (or (.join "; " (gfor n names f"{n} = 0")) "pass"))
                          f" {head} f(*__a, __t__, **__k):"
                          (+ "  if 0: " (.join "; " (or names ["0"])))
                          f"  {body}"
                          " return f"]))
  (exec (compile text "<autolith/image/forwarding>" "exec") scope)
  (setv code (. ((get scope "make")) __code__))
  (.replace code :co-name f.__code__.co-name))


;; * Classes

(defn update-class [old new log]
  "Make the class OLD what NEW is, so that its instances and subclasses follow; False for what can only be rebound."
  (when (or (isinstance old enum.EnumType) (isinstance new enum.EnumType)) (return False))
  (setv reason (refusal old new))
  (when reason (raise (Refused reason)))
  (when (!= old.__bases__ new.__bases__)
    (setv bases old.__bases__)
    (try
      (setv old.__bases__ new.__bases__)
      (except [e TypeError] (raise (Refused (_bases-reason old e)))))
    (.append log (fn [] (setv old.__bases__ bases))))
  (_point-at old new)
  (setv a (members old)  b (members new))
  (for [key (| (dict.fromkeys a) (dict.fromkeys b))]
    (when (not (and (in key a) (in key b) (update (get a key) (get b key) log)))
      (_change-member old key (.get a key ABSENT) (.get b key ABSENT) log)))
  True)

(defn _point-at [old new]
  "Make `super` and `__class__` in the methods of the class NEW mean OLD."
  (for [value (.values (vars new))
        f [value #* (gfor p ["__func__" "fget" "fset" "fdel" "__wrapped__"] (getattr value p None))]
        :if (function? f)
        [name cell] (zip f.__code__.co_freevars (or f.__closure__ []))
        :if (= name "__class__")]
    (setv cell.cell-contents old)))

(defn _change-member [cls key was now log]
  "Give the class CLS the member NOW under KEY instead of WAS; either may be ABSENT."
  (defn put [value]
    (if (is value ABSENT)
      (delattr cls key)
      (setattr cls key value)))
  (put now)
  (.append log (fn [] (put was))))


;; * Other bindings

(defn shared? [value]
  "Tell whether VALUE may be one with a stranger's by accident, as small numbers are."
  (isinstance value #(int float complex str bytes bool tuple frozenset range (type None) (type Ellipsis))))

(defn rebind [module key old new log]
  "Bind KEY to NEW in MODULE and, if OLD cannot be a stranger's, in our other modules that hold it by that name."
  (setv places [module])
  (when (not (or (is old ABSENT) (shared? old)))
    (+= places (lfor [name m] (list (.items sys.modules))
                     :if (and (.startswith name "autolith.") (is-not m module) (is (.get (vars m) key) old))
                     m)))
  (for [place places]
    (_bind place key new log)))

(defn _bind [module key value log]
  "Bind KEY to VALUE in MODULE; ABSENT unbinds it."
  (setv was (.get (vars module) key ABSENT))
  (defn put [x]
    (if (is x ABSENT) (.pop (vars module) key None) (setattr module key x)))
  (.append log (fn [] (put was)))
  (put value))

(defn take-back [log]
  "Undo the steps of LOG, newest first, leaving it empty."
  (while log ((.pop log))))
