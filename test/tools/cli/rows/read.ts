/** Test rows for read-only commands. */
import { map, type Part, r, web } from './row.ts'

const edited = map('one').replace('{k: v}', '{name: edited}')

const others = `apiVersion: v1
kind: ConfigMap
metadata: {name: lit}
data: {a: "1", b: x=y, key: "hello\\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {user: me}
---
apiVersion: v1
kind: Service
metadata: {name: front}
spec: {ports: [{port: 80}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: top}
value: 1000
`

export const reading: Part = {
  name: 'reading',
  given: [edited, map('two'), map('p1', ', labels: {set: p}'), web, web.replaceAll('web', 'idle'), others].join(
    '---\n',
  ),
  rows: [
    r('options', '', { stdout: /^Flags for all commands:\n {6}--kubeconfig=FILE [\s\S]*\n {2}-v, --v=LEVEL / }),
    r('get', 'cm one -o jsonpath={.data}', { stdout: '{"name":"edited"}' }),
    r('get', 'cm one two -n nowhere', {
      stderr: 'Error from server (NotFound): namespaces "nowhere" not found\n',
      code: 1,
    }),
    r('get', '.apps', {
      stderr: 'error: the server doesn\'t have a resource type "" in group "apps"\n',
      code: 1,
    }),
    r('get', 'cm one -w -o name --request-timeout=3s', { stdout: 'configmap/one\n' }),
    r('get', 'cm one two -o custom-columns=NAME:.metadata.name,K:.data.k', {
      stdout: 'NAME   K\none    <none>\ntwo    v\n',
    }),
    r('get', 'cm --sort-by=.metadata.name -L set -l set', { stdout: /^NAME +DATA +AGE +SET\np1 +1 +\d+m?\d*s? +p\n$/ }),
    r('get', 'cm one two -o go-template="{{range .items}}{{.metadata.name}} {{end}}"', { stdout: 'one two ' }),
    r('get', 'cm one --template={{.data.name}}', { stdout: 'edited' }),
    r('get', 'cm one -o go-template-file=DIR-file', {
      stderr: 'error: cannot read DIR-file: ENOENT\n',
      code: 1,
    }),
    r('get', 'cm one -o go-template', {
      stderr: "error: the output template is missing: use -o go-template='{{.metadata.name}}'\n",
      code: 1,
    }),
    r('create', '-f - -o go-template={{if}}', {
      stdin: map('never'),
      stderr: 'error: go-template: line 1, column 5: a value is missing\n',
      code: 1,
    }),
    r('get', 'cm never', { stderr: /NotFound/, code: 1 }),
    r('get', 'cm one -o jsonpath={.nope} --allow-missing-template-keys=false', {
      stderr: 'error: nope is not found\n',
      code: 1,
    }),
    r('get', 'cm one two -o jsonpath-as-json={.items[*].metadata.name}', { stdout: '[\n    "one",\n    "two"\n]\n' }),
    r('get', 'deploy web --subresource=scale -o jsonpath={.kind}', { stdout: 'Scale' }),
    r('get', 'deploy web --subresource=status -o name', { stdout: 'deployment.apps/web\n' }),
    r('get', 'deploy --subresource=status', {
      stderr: 'error: --subresource requires the name of an object and cannot be watched\n',
      code: 1,
    }),
    r('get', 'cm --output-watch-events', { stderr: /can only be used with --watch or --watch-only/, code: 1 }),
    r('get', 'secret login -o name -v 9', {
      stdout: 'secret/login\n',
      stderr:
        /^Config loaded from file: DIR\/\S+\ncurl -v -XGET -H '[^\n]*' 'SERVER\/api\/v1'\nGET SERVER\/api\/v1 200 OK in \d+ milliseconds\n[\s\S]*\nResponse Body: <hidden: \d+ bytes that may contain secrets>\n$/,
    }),
    r('get', 'cm one -o name -v 7 --token=hidden-word', {
      stderr:
        /^Config .*\nGET SERVER\/api\/v1\nRequest Headers:\n(?: {4}.*\n)*GET SERVER\/api\/v1 401 Unauthorized in \d+ milliseconds\nResponse Headers:\n(?![\s\S]*hidden-word)/,
      code: 1,
    }),
    r('get', 'cm one -o name --match-server-version --logtostderr=true -n nowhere -n rows-of-reading', {
      stdout: 'configmap/one\n',
    }),
    r('get', 'cm --cache-dir=x', {
      stderr: 'error: --cache-dir: orchctl caches nothing: it queries the server each time\n',
      code: 1,
    }),
    r('get', '--log-file x cm', { stderr: /^error: --log-file: orchctl writes no log; -v=6 to -v=9 print/, code: 1 }),
    r('get', 'cm --profile=cpu', { stderr: /^error: --profile: this flag profiles Go programs/, code: 1 }),
    r('get', 'cm one -o name -v 8', {
      stdout: 'configmap/one\n',
      stderr: /\nResponse Body: \{[^\n]*"ConfigMap"[^\n]*\n?$/,
    }),
    r('get', 'deploy --count', { stdout: '2\n' }),
    r('get', 'cm,deploy -l set=p --count', {
      stdout: 'TYPE              COUNT\nconfigmap         1\ndeployment.apps   0\n',
    }),
    r('get', 'deploy --server-sort=-metadata.name -o name', { stdout: 'deployment.apps/web\ndeployment.apps/idle\n' }),
    r('get', 'deploy --server-sort=-metadata.name --no-headers', { stdout: /^web .*\nidle / }),
    r('get', 'deploy --fields=metadata.name -o jsonpath={.items}', {
      stdout:
        '[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"idle"}},{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}]',
    }),
    r('get', 'deploy --fields=metadata.nmae -o yaml', {
      stdout: /^apiVersion: v1\nitems: \[\]\n/,
      stderr: /"metadata\.nmae" is not a field of this kind/,
      code: 1,
    }),
    r('get', 'deploy --fields=metadata.name', { stderr: /--fields requires an output format/, code: 1 }),
    r('get', 'cm one --server-sort=metadata.name', { stderr: /only apply to lists/, code: 1 }),
    r('get', 'cm one --count', { stderr: /--count cannot be combined/, code: 1 }),
    r('get', '--raw /healthz', { stdout: 'ok' }),
    r('get', 'cm absent --ignore-not-found'),
    r('get', 'all -o name', { stdout: /^service\/front\ndeployment\.apps\/idle\ndeployment\.apps\/web\n/ }),
    r('tree', 'deploy web', { stdout: /^OBJECT +STATE +AGE\ndeployment\.apps\/web +AGE\n$/ }),
    r('tree', 'cm', { stderr: 'error: specify one object: TYPE NAME or TYPE/NAME\n', code: 1 }),
    r('describe', 'cm lit', {
      stdout:
        'Name:         lit\nNamespace:    default\nLabels:       <none>\nAnnotations:  <none>\n\nData\n====\na:\n----\n1\nb:\n----\nx=y\nkey:\n----\nhello\n\nEvents:  <none>\n',
    }),
    r('describe', 'secret login', {
      stdout:
        'Name:         login\nNamespace:    default\nLabels:       <none>\nAnnotations:  <none>\n\nType:  Opaque\n\nData\n====\nuser:  2 bytes\n',
    }),
    r('describe', 'priorityclass top', {
      stdout:
        'Name:              top\nLabels:            <none>\nAnnotations:       <none>\nValue:             1000\nGlobalDefault:     false\nPreemptionPolicy:  PreemptLowerPriority\nDescription:       \nEvents:            <none>\n',
    }),
    r('describe', 'apiservice v1.', {
      stdout:
        /^Name: +v1\.\nNamespace: +\nLabels: .*\nAnnotations: +<none>\nAPI Version: +apiregistration\.k8s\.io\/v1\nKind: +APIService\nMetadata:\n {2}Creation Timestamp: +TIME\n/,
    }),
    r('describe', 'cm nope', { stderr: 'Error from server (NotFound): configmaps "nope" not found\n', code: 1 }),
    r('wait', "cm/one --for=jsonpath='{.data.name}'=edited", { stdout: 'configmap/one condition met\n' }),
    r('wait', 'cm/one --for=condition=Ready --timeout=1ms', {
      stderr: 'error: timed out waiting for the condition on configmaps/one\n',
      code: 1,
    }),
    r('wait', 'cm/one --for=create --timeout=0', { stdout: 'configmap/one condition met\n' }),
    r('wait', 'cm/one --for=delete --timeout=0', {
      stderr: 'error: timed out waiting for the condition on configmaps/one\n',
      code: 1,
    }),
    r('wait', 'cm/nope --for=condition=Ready', {
      stderr: 'Error from server (NotFound): configmaps "nope" not found\n',
      code: 1,
    }),
    r('wait', "cm/one --for=jsonpath='{.data.name}'=edited -o jsonpath={.metadata.name}", { stdout: 'one' }),
    r('wait', 'cm/nope --for=delete -o name', { stdout: 'configmap/nope\n' }),
    r('wait', 'cm/one --for=create --local', {
      stderr: 'error: --local: the objects to wait for are on the server\n',
      code: 1,
    }),
    r('get', 'cm one --server-print=false', { stdout: 'NAME   AGE\none    AGE\n' }),
    r('get', 'cm,svc --server-print=false -l set=p --show-labels --no-headers', {
      stdout: /^configmap\/p1 +\d+s +set=p\n$/,
    }),
    r('wait', 'cm/nope --for=delete', { stdout: 'configmap/nope condition met\n' }),
    r('wait', 'cm/one --for=ready', { stderr: /^error: unrecognized condition: "ready"; use --for=delete/, code: 1 }),
    r('events', '', { stderr: 'No events found in default namespace.\n' }),
    r('explain', 'cm.immutable', {
      stdout: /^KIND: {5}ConfigMap\nVERSION: {2}v1\n\nFIELD: {4}immutable <boolean>\n\nDESCRIPTION:\n {5}\S/,
    }),
    r('explain', 'cm.imutable', {
      stderr: 'error: field "imutable" does not exist; did you mean "immutable"?\n',
      code: 1,
    }),
    r('certificate approve', 'nobody', {
      stderr: 'Error from server (NotFound): certificatesigningrequests.certificates.k8s.io "nobody" not found\n',
      code: 1,
    }),
    r('certificate deny', '', {
      stderr: 'error: one or more CSRs must be specified as <name> or -f <filename>\n',
      code: 1,
    }),
    r('explain-admission', '-f -', {
      stdin: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"explained"}}',
      stdout: /^configmap\/explained would be created\nSTEP +CONTROL +WEBHOOK +TIME +SAID\nmutate +NamespaceLifecycle /,
    }),
    r('explain-admission', '', { stderr: /use -f to specify the files/, code: 1 }),
    r('auth can-i', 'create configmaps', { stdout: 'yes\n' }),
    r('auth can-i', 'create configmaps --as bob', { stdout: 'no\n', code: 1 }),
    r('auth can-i', 'get /metrics --as bob -q', { code: 1 }),
    r('auth can-i', 'get /logs/ --subresource=log', {
      stderr: 'error: --subresource can not be used with NonResourceURL\n',
      code: 1,
    }),
    r('auth can-i', 'get nodes', { stdout: 'yes\n', stderr: "Warning: resource 'nodes' is not namespace scoped\n" }),
    r('auth can-i', 'gett configmaps', {
      stdout: 'yes\n',
      stderr: "Warning: verb 'gett' is not a known verb; did you mean 'get'?\n",
    }),
    r('auth can-i', 'list /metrics', { stdout: 'yes\n', stderr: "Warning: verb 'list' is not a known verb\n" }),
    r('auth can-i', 'get nodes -A', { stdout: 'yes\n' }),
    r('auth can-i', 'get thing', {
      stdout: 'yes\n',
      stderr: "Warning: the server doesn't have a resource type 'thing'\n",
    }),
    r('get', 'leases.coord --all-namespaces --count', { stdout: /^\d+\n$/ }),
    r('get', 'pods --request-timeout=1p', { stderr: /Invalid timeout value "1p"/, code: 1 }),
    r('auth why', 'get secrets --as alice', {
      stdout:
        /^not allowed.*\n(nearly: .*\n)*the smallest rule that would allow it: \{verbs: \["get"\].*"secrets".*\n$/,
    }),
    r('auth why', 'get /version --as alice --as-group system:authenticated', { stdout: /^allowed/ }),
    r('auth why', 'get secrets --as alice --user bob', { stderr: /Forbidden/, code: 1 }),
    r('get', 'deployments/scale -n default --as alice', {
      stderr: /\nAn administrator can see why: orchctl auth why get deployments\.apps -n default --user alice\n$/,
      code: 1,
    }),
    r('get', 'nodes --as alice', {
      stderr: /\nAn administrator can see why: orchctl auth why list nodes -A --user alice\n$/,
      code: 1,
    }),
    r('get', 'nodes --as "alice b"', { stderr: /^Error from server \(Forbidden\).*\n$/, code: 1 }),
    r('get', '--raw /metrics --as alice', {
      stderr: /\nAn administrator can see why: orchctl auth why get \/metrics --user alice\n$/,
      code: 1,
    }),
    r('get', 'namespaces --user nobody', {
      stderr: /auth info "nobody" does not exist; known are "[\w-]+"\n$/,
      code: 1,
    }),
    r('get', 'namespaces --cluster nowhere', {
      stderr: /no server found for cluster "nowhere"; known are "[\w-]+"\n$/,
      code: 1,
    }),
    r('get', '--raw /nothing', {
      stderr:
        'Error from server (NotFound): the server could not find the requested resource: /nothing; `orchctl get --raw /` lists the available paths\n',
      code: 1,
    }),
    r('get', '--raw /apis/apps/v1/nothing', {
      stderr: /: \/apis\/apps\/v1\/nothing; `orchctl get --raw \/apis\/apps\/v1` lists/,
      code: 1,
    }),
    r('get', '--raw /versoin', { stderr: /: \/versoin; did you mean \/version\?\n$/, code: 1 }),
    r('wait', "cm/one --for=jsonpath='{.data.name}'=edited --timeout=-1s", { stdout: 'configmap/one condition met\n' }),
    r('get', 'namespaces --username me --password secret', { stderr: /User "system:anonymous" cannot/, code: 1 }),
    r('auth why', 'get secrets --user bob', { stdout: /secrets/ }),
    r('auth why', 'get nodes -A', { stdout: 'allowed: members of system:masters may do everything\n' }),
    r('auth why', 'get /metrics --user nobody', {
      stdout: 'not allowed\nthe smallest rule that would allow it: {verbs: ["get"], nonResourceURLs: ["/metrics"]}\n',
    }),
    r('auth why', 'get', { stderr: /specify a verb and a resource or path/, code: 1 }),
    r('auth who-can', 'get configmaps', {
      stdout: /^KIND +NAMESPACE +NAME +ROLE +BINDING\nGroup +system:masters +ClusterRole\/cluster-admin /,
      stderr: /./,
    }),
    r('auth who-can', 'get', { stderr: 'error: specify a verb and a resource or path\n', code: 1 }),
    r('auth whoami', '--as alice --as-uid 7', { stdout: /^Username +alice\nUID +7\n/m }),
    r('auth whoami', '--as-uid 7', { stderr: /as-uid is set without impersonating a user/, code: 1 }),
    r('auth whoami', '--as alice --as-group ops --as-group dev', {
      stdout: 'ATTRIBUTE   VALUE\nUsername    alice\nGroups      [ops dev system:authenticated]\n',
    }),
    r('api-resources', '--api-group=batch --no-headers', {
      stdout: 'cronjobs   cj    batch/v1   true   CronJob\njobs             batch/v1   true   Job\n',
    }),
    r('api-resources', '--verbs=deletecollection,nothing -o name --cached=false'),
    r('api-resources', '--cached', { stderr: /^error: --cached: orchctl caches nothing/, code: 1 }),
    r('api-resources', '--verbs=list --sort-by=kind --api-group=apps -o name', {
      stdout: 'controllerrevisions.apps\ndaemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps\n',
    }),
    r('api-versions', '', { stdout: /^admissionregistration\.k8s\.io\/v1\n(?:.*\n)*v1\n$/ }),
    r('cluster-info', '', {
      stdout: /^The control plane is running at SERVER, version v1\.23\.\d+\+orch\.\S+, and is ready\.\n$/,
    }),
    r('cluster-info dump', '--namespaces=rows-of-reading -o jsonpath={.items[*].metadata.name}', { stdout: /front/ }),
    r('cluster-info dump', '--pod-running-timeout=5s', {
      stderr: 'error: --pod-running-timeout: the dump reads logs from running pods only and does not wait for pods\n',
      code: 1,
    }),
    r('cluster-info dump', '-o json', { stdout: /"name": "web"/ }),
    r('cluster-info dump', '--namespaces=default --output-directory=dump', {
      stdout: 'Cluster info dumped to dump\n',
    }),
    r('plugin list', '', {
      stderr: 'error: unable to find any orchctl or kubectl plugins in your PATH\n',
      code: 1,
    }),
    r('generate types', 'configmaps', {
      stdout:
        /export interface ConfigMap \{\n {2}apiVersion: string\n(?:.*\n)*export const ConfigMap: ResourceType<ConfigMap> = /,
    }),
    r('generate types', '', {
      stderr: 'error: specify types as listed by `orchctl api-resources`, or files with definitions (-f)\n',
      code: 1,
    }),
    r('version', '--client --short', { stdout: /^Client Version: v\d/ }),
    r('version', '--client --short -o json', { stdout: /"gitVersion": "v\d/ }),
    r('version', '--short', { stdout: /^Client Version: v.*\nServer Version: v/ }),
    r('completion', 'bash', { stdout: /complete -F _orchctl orchctl\n$/ }),
    r('completion', 'tcsh', { stderr: 'error: specify one shell: bash, zsh, fish\n', code: 1 }),
  ],
}
