"Defining, finding, declaring and describing tools, and putting them back."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  json
  subprocess
  sys
  types
  pytest
  autolith.base [threads]
  autolith.tool [registry result]
  autolith.tool.tool :as kinds
  tests.tool.lib [call run tools])

(setv PYTHON (getattr hy "sys_executable" sys.executable))

(defn :async nothing []
  "Do nothing."
  None)

(defn test-define-find-call [tools]
  "A defined tool is found by its dotted and wire name, called as a function, and declared."
  (deftool demo.add-up [#^ int a * [b 2]]
    "Add A and B."
    {:effect "read"}
    (+ a b))
  (setv tool (tools.find "demo.add-up"))
  (assert (is tool (tools.find "demo_add_up")))
  (assert (= (. (tool 1) data) 3))
  (assert (= (. ((. (tools.namespace "demo") add-up) :a 1 :b 5) data) 6))
  (setv declared (next (gfor d (tools.declarations) :if (= (get d "name") "demo_add_up") d)))
  (assert (= (get declared "description") "Add A and B."))
  (assert (= (get declared "parameters" "required") ["a"])))

(defn test-redefinition-keeps-identity [tools]
  "Who holds a tool sees its new definition, and the undo brings back the old one exactly."
  (deftool demo.step [] "One." 1)
  (setv held (tools.find "demo.step")
        undo (.install held nothing {}))
  (undo)
  (assert (= (. (held) data) 1))
  (deftool demo.step [x] "Two." x)
  (assert (is held (tools.find "demo.step")))
  (assert (= (. (held 2) data) 2))
  (assert (= (get held.schema "required") ["x"])))

(defn test-map-as-only-body-is-the-value [tools]
  "A map is taken for traits only where a body follows it."
  (deftool demo.pair [x] "Give a map." {"x" x})
  (assert (= (. ((tools.find "demo.pair") 3) data) {"x" 3})))

(defn test-deftool-evaluated-in-a-module-of-the-user [tools]
  "deftool works in a module made at run time, as autolith.user is."
  (setv module (types.ModuleType "scratch"))
  (hy.eval (hy.read-many "(require autolith.tool.macros [deftool])
                          (deftool notes.tell [text * [times 2]] \"Tell.\" {:effect :read} (* text times))")
           :module module)
  (assert (= (. ((tools.find "notes.tell") "ab") text) "abab")))

(setv BAD-NAMES ["demo.a_b" "demo.ok?" "demo.-x" "ﬁ.x" "demo.x.y" "demo" "Demo.x" "demo.a--b" "demo.x-" "list.x" "hy.x"
                 "autolith.x"
                 "None.x" "" "demo." ".x" (+ "demo." (* "x" 80))])

(defn [(pytest.mark.parametrize "name" BAD-NAMES)] test-names-that-would-mangle-badly-are-refused [name tools]
  "A name that is not plain kebab-case, or hides something, is refused and leaves no trace."
  (setv before (dict registry.tools))
  (with [_ (pytest.raises ValueError)]
    (registry.enter name nothing))
  (assert (= registry.tools before)))

(setv COLLISIONS [#("a.b-c" "a-b.c") #("demo.is-x" "demo-is.x")])

(defn [(pytest.mark.parametrize "first,second" COLLISIONS)] test-collisions-name-the-first [first second tools]
  "Two names that a provider would see as one are refused, naming the first; the first goes on working."
  (registry.enter first nothing)
  (with [e (pytest.raises ValueError)]
    (registry.enter second nothing))
  (assert (in first (str e.value)))
  (assert (= (. (registry.find second) name) first)))

(defn test-bad-definition-leaves-the-old [tools]
  "A redefinition that is refused leaves the tool as it was."
  (deftool demo.keep [x] "Keep." x)
  (for [bad [#((fn [x] x) {}) #(nothing {:effect "sideways"}) #(nothing {:colour 1})]]
    (with [_ (pytest.raises #(TypeError ValueError))]
      (registry.enter "demo.keep" #* bad)))
  (assert (= (. ((registry.find "demo.keep") 4) data) 4)))

(defn test-malformed-deftool-is-a-syntax-error []
  "deftool without documentation, parameters or a dotted name does not compile."
  (for [source ["(deftool demo.x [] 1)" "(deftool x [] \"doc\" 1)" "(deftool demo.x \"doc\" [] 1)"]]
    (with [_ (pytest.raises Exception)]
      (hy.eval (hy.read-many (+ "(require autolith.tool.macros [deftool])" source))
               :module (types.ModuleType "scratch")))))

(defn test-namespace-explains-itself [tools]
  "A namespace lists its tools, names the nearest for a wrong one, and is callable where a command has its name."
  (deftool demo.alpha [] "First of all." 1)
  (setv demo (tools.namespace "demo"))
  (assert (in "First of all." (repr demo)))
  (assert (in "alpha" (dir demo)))
  (tools.document "demo" "Shows things.")
  (assert (in "Shows things." (repr demo)))
  (assert (= (tools.describe-namespace "demo")
             {"name" "demo" "doc" "Shows things." "tools" [#("(demo.alpha)" "First of all.")]}))
  (assert (get (tools.describe-namespace "search") "doc"))
  (assert (is (tools.describe-namespace "no-such") None))
  (with [e (pytest.raises AttributeError)] demo.alpah)
  (assert (in "alpha" (str e.value)))
  (with [e (pytest.raises TypeError)] (demo))
  (assert (in "demo.alpha" (str e.value)))
  (tools.callable-as "demo" (fn [x] (* 2 x)))
  (assert (= (demo 4) 8))
  (assert (= (. (demo.alpha) data) 1)))

(defn test-new-namespaces-are-offered [tools]
  "Each namespace is made known once, those that appear later too, and its thunk gives it."
  (setv offered {})
  (tools.offer-all (fn [name thunk] (setv (get offered name) thunk)))
  (deftool fresh.tool [] "New." 1)
  (assert (<= #{"search" "fs" "self" "resource" "fresh"} (set offered)))
  (assert (is ((get offered "fresh")) (tools.namespace "fresh")))
  (assert (= (. ((get offered "search")) __name__) "search"))
  (.clear registry._offer))

(defn test-declarations-are-stable [tools]
  "Declarations are sorted and the same bytes each time, whatever the order of definition; hidden tools are left out."
  (deftool zz.last [] "Z." 1)
  (deftool aa.first [] "A." 1)
  (deftool aa.hidden [] "H." {:hidden True} 1)
  (setv text (json.dumps (tools.declarations))
        names (lfor d (tools.declarations) (get d "name")))
  (assert (= names (sorted names)))
  (assert (not-in "aa_hidden" names))
  (deftool aa.first [] "A." 1)
  (assert (= text (json.dumps (tools.declarations)))))

(defn test-descriptions-are-composed [tools]
  "A trait adds to the description, as text or by a function; one that fails does not break the declarations."
  (deftool demo.said [] "Say." {:description "More."} 1)
  (deftool demo.made [] "Make." {:description (fn [] "Made.")} 1)
  (deftool demo.broken [] "Break." {:description (fn [] (/ 1 0))} 1)
  (setv said (dfor d (tools.declarations) (get d "name") (get d "description")))
  (assert (= (get said "demo_said") "Say.\n\nMore."))
  (assert (= (get said "demo_made") "Make.\n\nMade."))
  (assert (.startswith (get said "demo_broken") "Break.")))

(defn test-loading-from-several-threads []
  "Threads that look up the same namespace at once all find its tools, also while another imports the module itself."
  (setv code "
import hy, threading
from autolith.tool import registry
found = []
def look(): found.append(registry.find('search_content'))
def direct():
    import autolith.tool.search
threads = [threading.Thread(target=f) for f in [direct] + [look] * 8]
for t in threads: t.start()
for t in threads: t.join(20)
assert len(found) == 8 and all(found), found
")
  (subprocess.run [PYTHON "-c" code] :check True :timeout 60)
  None)

(defn test-names-fit-every-provider []
  "Each packaged tool's wire name, and each property's, is of the letters and length that all providers take."
  (import re)
  (for [d (registry.declarations)]
    (assert (re.fullmatch "[a-zA-Z0-9_-]{1,64}" (get d "name")))
    (assert (get d "description"))
    (for [p (get d "parameters" "properties")]
      (assert (re.fullmatch "[a-zA-Z0-9_.-]{1,64}" p)))))

(defn test-describe [tools]
  "Help learns the signature, the documentation, the effect, the restarts and where it is defined."
  (deftool demo.told [uri * [start-line 1]]
    "Tell.

More."
    {:effect "write" :restarts {:again "Do it again."}}
    1)
  (setv about (tools.describe "demo_told"))
  (assert (= (get about "signature") "(demo.told :uri URI [:start-line 1])"))
  (assert (= (get about "doc") "Tell.\n\nMore."))
  (assert (= #((get about "effect") (get about "restarts")) #("write" {"again" "Do it again."})))
  (assert (.endswith (get about "file") "test_registry.hy"))
  (assert (is (tools.describe "no.such") None)))

(defn test-snapshot-and-restore [tools]
  "Restoring removes what was added, brings back what was changed or removed, and keeps every identity."
  (deftool demo.one [] "One." 1)
  (deftool demo.gone [] "Gone." 2)
  (setv one (tools.find "demo.one") gone (tools.find "demo.gone") before (tools.snapshot))
  (deftool demo.one [] "Other." 11)
  (deftool extra.two [] "Two." 2)
  (tools.forget "demo.gone")
  (assert (is (tools.find "demo.gone") None))
  (tools.restore before)
  (assert (= (. (one) data) 1))
  (assert (is (tools.find "demo.gone") gone))
  (assert (is (tools.find "extra.two") None))
  (deftool extra-two.x [] "The wire name is free again." 1)
  None)

(defn test-restore-keeps-what-was-loaded-since []
  "A packaged namespace first loaded after a snapshot is whole after a restore, also where it had been overridden."
  (setv code "
import hy, types
from autolith.tool import registry
before = registry.snapshot()
assert not registry.tools
forms = '(require autolith.tool.macros [deftool]) (deftool search.glob [] \"Mine.\" 1)'
hy.eval(hy.read_many(forms), module=types.ModuleType('scratch'))
assert registry.find('search.glob').summary == 'Mine.'
registry.restore(before)
assert 'pattern' in registry.find('search.glob').schema['required']
assert registry.find('search.content')
")
  (subprocess.run [PYTHON "-c" code] :check True)
  None)

(defn test-reload-takes-back-what-init-defined [tools]
  "Taking back what a load of init.hy defined removes its tools and gives packaged ones back, and nothing else."
  (import autolith.image [registries])
  (registry.namespace "search")
  (deftool mine.before [] "Before." 1)
  (setv before (registries.take) packaged (. (registry.find "search.glob") summary))
  (deftool notes.added [] "Added." 1)
  (deftool search.glob [] "Overridden." 1)
  (setv changes (registries.difference before (registries.take)))
  (deftool mine.since [] "Since." 1)
  (registries.take-back changes)
  (assert (is (registry.find "notes.added") None))
  (assert (= (. (registry.find "search.glob") summary) packaged))
  (assert (and (registry.find "mine.before") (registry.find "mine.since"))))

(defn test-registry-alone-is-light []
  "Importing the registry imports neither asyncio nor any tool."
  (setv code "
import hy, sys
import autolith.tool.registry
heavy = {'asyncio', 'httpx', 'PIL', 'hyrule', 'autolith.tool.search', 'autolith.tool.fs'} & set(sys.modules)
assert not heavy, heavy
")
  (subprocess.run [PYTHON "-c" code] :check True)
  None)

(defn test-packaged-tools-load-by-name []
  "Every packaged namespace loads when it is looked up."
  (for [space registry.sources]
    (assert (registry.members (. (registry.namespace space) __name__))))
  (assert (is (registry.namespace "no-such") None)))
