/** The rows of `commands.test.ts`: one command line each, in this order, on one server. */
export interface Row {
  /** The command that the row is for. */
  readonly command: string
  readonly args: readonly string[]
  readonly stdin?: string
  readonly environment?: { readonly [name: string]: string }
  /** Written beside before it runs. */
  readonly files?: { readonly [name: string]: string }
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
  readonly code?: number
}

/** `r('get', 'cm a')`: words are separated by blanks that are not in quotes. */
function r(command: string, line: string, said: Omit<Row, 'command' | 'args'> = {}): Row {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  const bare = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a = '', b = '') => `${a}${b}`))
  return { command, args: [...command.split(' '), ...bare], ...said }
}

const map = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${more}}\ndata: {k: v}\n`

const job = (image: string) =>
  `apiVersion: batch/v1
kind: Job
metadata: {name: forced}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: ${image}}]}}}
`

const web = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: a
        image: nginx
        env:
        - {name: X, value: "1"}
        - {name: Z, value: "2"}
`

const refused = `apiVersion: v1
kind: Service
metadata:
  name: bad
spec:
  ports:
  - port: 80
    name: http
  - port: 81
    name: http
`

const creating: readonly Row[] = [
  r('create', '-f -', {
    stdin: `${map('one')}---\n${map('two')}`,
    stdout: 'configmap/one created\nconfigmap/two created\n',
  }),
  r('create', '-f - -o name', {
    stdin: `kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: three}}\n`,
    stdout: 'configmap/three\n',
    stderr: 'Error from server (AlreadyExists): error when creating "STDIN": configmaps "one" already exists\n',
    code: 1,
  }),
  r('create', '-f bad.yaml', {
    files: { 'bad.yaml': refused },
    stderr:
      'Error from server (Invalid): error when creating "bad.yaml": Service "bad" is invalid: spec.ports[1].name: Duplicate value: "http"\n  bad.yaml:10:5: spec.ports[1].name: Duplicate value: "http"\n',
    code: 1,
  }),
  r('create', '-f broken.yaml', {
    files: { 'broken.yaml': `${map('fine')}---\nkind: ConfigMap\n  apiVersion: v1\n` },
    stderr: /^error: broken\.yaml: document 2, line \d+, column \d+: .*\n$/,
    code: 1,
  }),
  r('create', '-f twice.yaml', {
    files: { 'twice.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "1"\n  a: "2"\n' },
    stderr: 'error: twice.yaml: data.a is there more than once\n',
    code: 1,
  }),
  r('create', '-f typo.yaml', {
    files: { 'typo.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndataa:\n  a: "1"\n' },
    stderr:
      /^Error from server \(BadRequest\): error when creating "typo\.yaml": .*unknown field "dataa".*\n {2}typo\.yaml:4:1: dataa\n$/,
    code: 1,
  }),
  r('create', '-f nowhere.yaml', { stderr: 'error: the path "nowhere.yaml" does not exist\n', code: 1 }),
  r('create', '-f -', { stdin: 'kind: ConfigMap\n', stderr: 'error: STDIN: apiVersion is missing\n', code: 1 }),
  r('create', '-f -', {
    stdin: 'apiVersion: v1\nkind: Widget\nmetadata: {name: x}\n',
    stderr: 'error: the server has no kind "Widget" in version "v1": `orchctl api-resources` lists what there is\n',
    code: 1,
  }),
  r('create', '-f - -n other', {
    stdin: map('x', ', namespace: default'),
    stderr: `error: the namespace from the provided object "default" does not match the namespace "other". You must pass '--namespace=default' to perform this operation.\n`,
    code: 1,
  }),
  r('create', '-f - --dry-run=client -o yaml', {
    stdin: map('dry'),
    stdout: 'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  name: dry\n  namespace: default\n',
  }),
  r('create', '-f - --dry-run=server', { stdin: map('dry'), stdout: 'configmap/dry created (server dry run)\n' }),
  r('create', '-f - --dry-run=maybe', {
    stderr: 'error: --dry-run: "maybe" is not one of none, client, server\n',
    code: 1,
  }),
  r('create', '', { stderr: /^error: must specify one of -f or a kind/, code: 1 }),
  r('create', 'confgmap x', {
    stderr: 'error: unknown command "confgmap"; did you mean configmap? (orchctl create help)\n',
    code: 1,
  }),
  r('create namespace', 'shop', { stdout: 'namespace/shop created\n' }),
  r('create namespace', '', { stderr: 'error: exactly one NAME is required, got none\n', code: 1 }),
  r('create configmap', 'lit --from-literal=a=1 --from-literal=b=x=y --from-file=key=data.txt', {
    files: { 'data.txt': 'hello\n' },
    stdout: 'configmap/lit created\n',
  }),
  r('create configmap', "env --from-env-file=vars.env --dry-run=client -o 'jsonpath={.data}'", {
    files: { 'vars.env': '# comment\nA=1\nB=two words\n' },
    stdout: '{"A":"1","B":"two words"}',
  }),
  r('create configmap', 'lit --from-literal=a', {
    stderr: 'error: invalid literal source a, expected key=value\n',
    code: 1,
  }),
  r('create secret generic', 'login --from-literal=user=me', { stdout: 'secret/login created\n' }),
  r('create secret tls', 'site --cert=none.crt --key=none.key', {
    stderr: 'error: cannot read none.crt: ENOENT\n',
    code: 1,
  }),
  r('create secret docker-registry', 'reg --docker-server=r.example --docker-username=u --docker-password=p', {
    stdout: 'secret/reg created\n',
  }),
  r('create serviceaccount', 'robot', { stdout: 'serviceaccount/robot created\n' }),
  r('create token', 'robot --duration=10m', { stdout: /^[\w-]+\.[\w-]+\.[\w-]+\n$/ }),
  r('create token', 'nobody', { stderr: /^Error from server \(NotFound\): /, code: 1 }),
  r('create role', 'reader --verb=get,list --resource=pods,deployments.apps -o jsonpath={.rules}', {
    stdout:
      '[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get","list"]}]',
  }),
  r('create role', 'reader --resource=pods', {
    stderr: 'error: at least one verb must be specified: --verb=get\n',
    code: 1,
  }),
  r('create rolebinding', 'readers --role=reader --user=alice --serviceaccount=default:robot', {
    stdout: 'rolebinding.rbac.authorization.k8s.io/readers created\n',
  }),
  r('create clusterrole', 'prober --verb=get --non-resource-url=/metrics', {
    stdout: 'clusterrole.rbac.authorization.k8s.io/prober created\n',
  }),
  r('create clusterrolebinding', 'probers --clusterrole=prober --group=ops', {
    stdout: 'clusterrolebinding.rbac.authorization.k8s.io/probers created\n',
  }),
  r('create deployment', 'idle --image=busybox --replicas=2 -- sleep 60', { stdout: 'deployment.apps/idle created\n' }),
  r('create job', 'once --image=busybox -- date', { stdout: 'job.batch/once created\n' }),
  r('create cronjob', "nightly --image=busybox --schedule='0 3 * * *'", { stdout: 'cronjob.batch/nightly created\n' }),
  r('create job', 'now --from=cronjob/nightly', { stdout: 'job.batch/now created\n' }),
  r('create quota', 'small --hard=pods=10,cpu=1', { stdout: 'resourcequota/small created\n' }),
  r('create priorityclass', 'high --value=1000', { stdout: 'priorityclass.scheduling.k8s.io/high created\n' }),
  r('create poddisruptionbudget', 'web --selector=app=web --min-available=50%', {
    stdout: 'poddisruptionbudget.policy/web created\n',
  }),
  r('create ingress', "site --rule='shop.example.com/*=web:80,tls=site'", {
    stdout: 'ingress.networking.k8s.io/site created\n',
  }),
]

const applying: readonly Row[] = [
  r('apply', '-f web.yaml', { files: { 'web.yaml': web }, stdout: 'deployment.apps/web created\n' }),
  r('apply', '-f web.yaml', { stdout: 'deployment.apps/web unchanged\n' }),
  r('apply', '-f web.yaml --dry-run=server', {
    files: { 'web.yaml': web.replace('        - {name: Z, value: "2"}\n', '').replace('nginx', 'nginx:2') },
    stdout: 'deployment.apps/web configured (server dry run)\n',
  }),
  r('diff', '-f web.yaml', { stdout: /^\+ {8}image: nginx:2$/m, code: 1 }),
  r('apply', '-f web.yaml', { stdout: 'deployment.apps/web configured\n' }),
  r('diff', '-f web.yaml'),
  r('get', "deploy web -o 'jsonpath={.spec.template.spec.containers[*].env}'", {
    stdout: '[{"name":"X","value":"1"}]',
  }),
  r('apply', '-f - -o name', {
    stdin: `${map('p1', ', labels: {set: p}')}---\n${map('p2', ', labels: {set: p}')}`,
    stdout: 'configmap/p1\nconfigmap/p2\n',
  }),
  r('apply', '-f - --prune -l set=p', {
    stdin: map('p1', ', labels: {set: p}'),
    stdout: 'configmap/p1 unchanged\nconfigmap/p2 pruned\n',
  }),
  r('apply', '-f - --prune', {
    stdin: map('p1'),
    stderr: /^error: all resources selected for prune without explicitly passing --all/,
    code: 1,
  }),
  r('apply', '-f - --server-side', {
    stdin: map('p1', ', labels: {set: p}'),
    stdout: 'configmap/p1 serverside-applied\n',
  }),
  r('get', "cm p1 --show-managed-fields -o 'jsonpath={.metadata.managedFields[*].manager}'", { stdout: 'orchctl' }),
  r('apply', '-f taken.yaml --server-side --field-manager=another', {
    files: { 'taken.yaml': map('p1').replace('{k: v}', '{k: mine}') },
    stderr: `error: configmap/p1 of taken.yaml was not applied: 1 field has another owner:
  taken.yaml:4:8: .data.k: conflict with "orchctl": owned since TIME, is "v", asked for "mine"
There are three ways out:
* to own it from now on, and set it as the file says: apply again with --force-conflicts
* to leave it to the other owner: take it out of the file
* to own it together: write the value that is there now into the file
`,
    code: 1,
  }),
  r('apply', '-f taken.yaml --server-side --field-manager=another --force-conflicts', {
    stdout: 'configmap/p1 serverside-applied\n',
  }),
  r('apply', '-f . --force-conflicts', { stderr: 'error: --force-conflicts only works with --server-side\n', code: 1 }),
  r('apply', '-f several.yaml', {
    files: { 'several.yaml': `${map('s1')}---\n${map('S2')}---\n${map('s3')}` },
    stdout: 'configmap/s1 created\nconfigmap/s3 created\n',
    stderr:
      /^Error from server \(Invalid\): error when applying "several\.yaml": ConfigMap "S2" is invalid.*\n {2}several\.yaml:8:12: metadata\.name: .*\n$/,
    code: 1,
  }),
  r('apply', '', { stderr: 'error: must specify -f: the files to apply\n', code: 1 }),
  r('apply', '-k base', {
    stderr: 'error: --kustomize: is not built: run `kustomize build base | orchctl ... -f -`\n',
    code: 1,
  }),
  r('apply', '-f job.yaml', { files: { 'job.yaml': job('one') }, stdout: 'job.batch/forced created\n' }),
  r('apply', '-f job.yaml', {
    files: { 'job.yaml': job('two') },
    stderr:
      /^Error from server \(Invalid\): .*field is immutable\n {2}job\.yaml:4:8: spec\.template: Invalid value: \.\.\.: field is immutable\n$/,
    code: 1,
  }),
  r('apply', '-f job.yaml --force', { stdout: 'job.batch/forced configured\n' }),
  // What would be refused anyway costs nobody the object that is there.
  r('apply', '-f job.yaml --force', {
    files: { 'job.yaml': job('""') },
    stderr: /^Error from server \(Invalid\): .*image: Required value\n {2}job\.yaml:\d+:\d+: .*\n$/,
    code: 1,
  }),
  r('get', "job forced -o 'jsonpath={.spec.template.spec.containers[0].image}'", { stdout: 'two' }),
  r('apply', '-f x --force --server-side', {
    stderr: 'error: --force cannot be used with --server-side (did you mean --force-conflicts?)\n',
    code: 1,
  }),
  r('apply', '-f x --force --dry-run=server', {
    stderr: /^error: --dry-run=server cannot be used with --force/,
    code: 1,
  }),
  r('apply view-last-applied', 'cm s1', {
    stdout:
      'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  annotations: {}\n  name: s1\n  namespace: default\n',
  }),
  r('apply view-last-applied', 'cm two', {
    stderr: 'error: no last-applied-configuration annotation found on configmap/two\n',
    code: 1,
  }),
  r('apply set-last-applied', '-f -', {
    stdin: map('two'),
    stderr: 'error: no last-applied-configuration annotation found on configmap/two; --create-annotation makes one\n',
    code: 1,
  }),
  r('apply set-last-applied', '-f - --create-annotation', { stdin: map('two'), stdout: 'configmap/two configured\n' }),
  r('apply set-last-applied', '-f -', { stdin: map('two'), stdout: 'set-last-applied two: no changes required.\n' }),
  r('apply', '-f - --dry-run=server', { stdin: map('two'), stdout: 'configmap/two unchanged (server dry run)\n' }),
  r('apply edit-last-applied', 'cm two', {
    environment: { EDITOR: 'sed -i "s/k: v/k: w/"' },
    stdout: 'configmap/two edited\n',
  }),
  r('apply view-last-applied', 'cm/two -o json', {
    stdout: /^{\n {2}"apiVersion": "v1",\n {2}"data": {\n {4}"k": "w"\n/,
  }),
  r('get', 'cm two -o jsonpath={.data.k}', { stdout: 'v' }),
  r('apply edit-last-applied', 'cm three', {
    stderr:
      'error: no last-applied-configuration annotation found on configmap/three; `orchctl apply set-last-applied --create-annotation` makes one\n',
    code: 1,
  }),
  r('apply edit-last-applied', 'cm two', {
    environment: { EDITOR: 'sed -i "s/name: two/name: six/"' },
    stderr: /^error: edit cancelled, no valid changes were saved; what you wrote is in .*object\.yaml\n$/,
    code: 1,
  }),
  r('apply', '--sever-side -f x', {
    stderr: /^error: unknown flag --sever-side; did you mean --server-side\?/,
    code: 1,
  }),
]

const changing: readonly Row[] = [
  r('label', 'cm one app=x tier=y', { stdout: 'configmap/one labeled\n' }),
  r('label', 'cm one app=z', { stderr: "error: 'app' already has a value (x), and --overwrite is false\n", code: 1 }),
  r('label', 'cm one app=z --overwrite', { stdout: 'configmap/one labeled\n' }),
  r('label', 'cm one app=z tier-', { stdout: 'configmap/one labeled\n' }),
  r('label', 'cm -l app=z more=1 -o name', { stdout: 'configmap/one\n' }),
  r('label', 'cm one', {
    stderr: 'error: at least one label update is required: key=value, or key- to remove it\n',
    code: 1,
  }),
  r('label', 'cm one --list', { stdout: 'Listing labels for configmap/one:\n app=z\n more=1\n' }),
  r('label', 'cm oen a=b', {
    stderr: 'Error from server (NotFound): configmaps "oen" not found; did you mean "one"?\n',
    code: 1,
  }),
  r('annotate', "cm one 'note=a b' --dry-run=client", { stdout: 'configmap/one annotated (dry run)\n' }),
  r('annotate', "cm one 'note=a b'", { stdout: 'configmap/one annotated\n' }),
  r('annotate', 'cm one nothing-', { stdout: 'configmap/one not annotated\n' }),
  r('patch', "cm one -p '{data: {k: w}}' -o jsonpath={.data.k}", { stdout: 'w' }),
  r('patch', `cm one --type=json -p '[{"op":"remove","path":"/data/k"}]'`, { stdout: 'configmap/one patched\n' }),
  r('patch', `cm one --type=merge -p '{"data":null}'`, { stdout: 'configmap/one patched (no change)\n' }),
  r('patch', "cm one -p '{'", { stderr: /^error: unable to parse the patch: it is not valid YAML/, code: 1 }),
  r('replace', '-f -', { stdin: map('one').replace('{k: v}', '{name: new}'), stdout: 'configmap/one replaced\n' }),
  r('replace', '-f - --force', { stdin: map('two'), stdout: 'configmap/two replaced\n' }),
  r('replace', '-f -', {
    stdin: map('absent'),
    stderr: 'Error from server (NotFound): error when replacing "STDIN": configmaps "absent" not found\n',
    code: 1,
  }),
  r('scale', 'deploy web --replicas=3', { stdout: 'deployment.apps/web scaled\n' }),
  r('scale', 'deploy web --replicas=4 --current-replicas=9', {
    stderr: 'error: Expected replicas to be 9, was 3\n',
    code: 1,
  }),
  r('scale', 'cm one --replicas=1', {
    stderr: 'error: configmaps have no scale: their number of replicas is not to be set\n',
    code: 1,
  }),
  r('edit', 'cm one', { environment: { EDITOR: 'sed -i s/new/edited/' }, stdout: 'configmap/one edited\n' }),
  r('edit', 'cm one', { environment: { EDITOR: 'true' }, stderr: 'Edit cancelled, no changes made.\n' }),
  r('edit', 'cm one', {
    environment: { EDITOR: 'false' },
    stderr: /^error: the editor "false" ended with exit code 1: nothing was changed\n$/,
    code: 1,
  }),
  r('edit', 'cm one', {
    environment: { EDITOR: 'sed -i "s/^data:/daata:/"' },
    stderr: /^error: edit cancelled, no valid changes were saved; what you wrote is in .*object\.yaml\n$/,
    code: 1,
  }),
]

const reading: readonly Row[] = [
  r('get', 'cm one -o jsonpath={.data}', { stdout: '{"name":"edited"}' }),
  r('get', 'cm one two -o custom-columns=NAME:.metadata.name,K:.data.k', {
    stdout: 'NAME   K\none    <none>\ntwo    v\n',
  }),
  r('get', 'cm --sort-by=.metadata.name -L set -l set', { stdout: /^NAME +DATA +AGE +SET\np1 +1 +\d+m?\d*s? +p\n$/ }),
  r('get', 'cm one -o go-template={{.x}}', {
    stderr: `error: --output: "go-template" is not built: use jsonpath, such as -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'\n`,
    code: 1,
  }),
  r('create', '-f - -o go-template-file=x', {
    stdin: map('never'),
    stderr: /^error: --output: "go-template-file" is not built: use jsonpath, /,
    code: 1,
  }),
  r('get', '--raw /healthz', { stdout: 'ok' }),
  r('get', 'cm absent --ignore-not-found'),
  r('get', 'all -o name', { stdout: /^service\/kubernetes\ndeployment\.apps\/idle\ndeployment\.apps\/web\n/ }),
  r('describe', 'cm lit', {
    stdout:
      'Name:         lit\nNamespace:    default\nLabels:       <none>\nAnnotations:  <none>\n\nData\n====\na:\n----\n1\nb:\n----\nx=y\nkey:\n----\nhello\n\nEvents:  <none>\n',
  }),
  r('describe', 'secret login', {
    stdout:
      'Name:         login\nNamespace:    default\nLabels:       <none>\nAnnotations:  <none>\n\nType:  Opaque\n\nData\n====\nuser:  2 bytes\n',
  }),
  r('describe', 'priorityclass high', {
    stdout:
      'Name:              high\nLabels:            <none>\nAnnotations:       <none>\nValue:             1000\nGlobalDefault:     false\nPreemptionPolicy:  PreemptLowerPriority\nDescription:       \nEvents:            <none>\n',
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
  r('wait', 'cm/nope --for=delete', { stdout: 'configmap/nope condition met\n' }),
  r('wait', 'cm/one --for=ready', { stderr: /^error: unrecognized condition: "ready"; write --for=delete/, code: 1 }),
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
  r('explain-admission', '', { stderr: /must specify -f/, code: 1 }),
  r('auth can-i', 'create configmaps', { stdout: 'yes\n' }),
  r('auth can-i', 'create configmaps --as bob', { stdout: 'no\n', code: 1 }),
  r('auth can-i', 'get /metrics --as bob -q', { code: 1 }),
  r('auth why', 'get secrets --user bob', { stdout: /secrets/ }),
  r('auth why', 'get nodes -A', { stdout: 'allowed: members of system:masters may do everything\n' }),
  r('auth why', 'get /metrics --user nobody', {
    stdout: 'not allowed\nthe smallest rule that would allow it: {nonResourceURLs: ["/metrics"], verbs: ["get"]}\n',
  }),
  r('auth why', 'get', { stderr: /say a verb and what it would be done to/, code: 1 }),
  r('auth whoami', '--as alice --as-group ops --as-group dev', {
    stdout: 'ATTRIBUTE   VALUE\nUsername    alice\nGroups      [ops dev system:authenticated]\n',
  }),
  r('api-resources', '--api-group=batch --no-headers', {
    stdout: 'cronjobs   cj    batch/v1   true   CronJob\njobs             batch/v1   true   Job\n',
  }),
  r('api-versions', '', { stdout: /^admissionregistration\.k8s\.io\/v1\n(?:.*\n)*v1\n$/ }),
  r('cluster-info', '', {
    stdout: /^The control plane is running at SERVER, version v1\.23\.\d+\+orch\.\S+, and is ready\.\n$/,
  }),
  r('version', '--client', { stdout: /^Client Version: v\d/ }),
  r('completion', 'bash', { stdout: /complete -F _orchctl orchctl\n$/ }),
  r('completion', 'tcsh', { stderr: 'error: name one shell: bash, zsh, fish\n', code: 1 }),
]

const own = '--kubeconfig=own.kubeconfig'

const configuring: readonly Row[] = [
  r('config set-cluster', `c --server=https://127.0.0.1:1 ${own}`, { stdout: 'Cluster "c" set.\n' }),
  r('config set-credentials', `u --token=secret ${own}`, { stdout: 'User "u" set.\n' }),
  r('config set-context', `one --cluster=c --user=u ${own}`, { stdout: 'Context "one" created.\n' }),
  r('config set-context', `two --cluster=c --user=u -n shop ${own}`, { stdout: 'Context "two" created.\n' }),
  r('config set-context', `one -n other ${own}`, { stdout: 'Context "one" modified.\n' }),
  r('config use-context', `three ${own}`, { stderr: 'error: no context exists with the name: "three"\n', code: 1 }),
  r('config use-context', `two ${own}`, { stdout: 'Switched to context "two".\n' }),
  r('config current-context', own, { stdout: 'two\n' }),
  r('config get-contexts', own, {
    stdout:
      'CURRENT   NAME   CLUSTER   AUTHINFO   NAMESPACE\n          one    c         u          other\n*         two    c         u          shop\n',
  }),
  r('config view', own, {
    stdout:
      'apiVersion: v1\nclusters:\n- cluster:\n    server: https://127.0.0.1:1\n  name: c\ncontexts:\n- context:\n    cluster: c\n    namespace: other\n    user: u\n  name: one\n- context:\n    cluster: c\n    namespace: shop\n    user: u\n  name: two\ncurrent-context: two\nkind: Config\npreferences: {}\nusers:\n- name: u\n  user:\n    token: REDACTED\n',
  }),
  r('config view', `--minify --raw -o json ${own}`, { stdout: /"token": "secret"/ }),
]

const deleting: readonly Row[] = [
  r('delete', 'cm one --dry-run=server', { stdout: 'configmap "one" deleted (server dry run)\n' }),
  r('delete', 'cm one', { stdout: 'configmap "one" deleted\n' }),
  r('delete', 'cm one', { stderr: 'Error from server (NotFound): configmaps "one" not found\n', code: 1 }),
  r('delete', 'cm one --ignore-not-found'),
  r('delete', 'cm', { stderr: /^error: resource\(s\) were provided, but no name was specified/, code: 1 }),
  r('delete', 'cm one --grace-period=0', { stderr: /^error: --grace-period=0 does not wait/, code: 1 }),
  r('delete', 'cm -l set=p -o name', { stdout: /^configmap\/p1\n$/ }),
  r('delete', '-f web.yaml', { stdout: 'deployment.apps "web" deleted\n' }),
  r('delete', 'ns shop', { stdout: 'namespace "shop" deleted\n' }),
  r('wait', 'ns/shop --for=delete', { stdout: 'namespace/shop condition met\n' }),
]

export const rows: readonly Row[] = [...creating, ...applying, ...changing, ...reading, ...configuring, ...deleting]
