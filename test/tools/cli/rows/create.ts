/** Test rows for commands that create objects from files and flags. */
import { map, type Part, r, web } from './row.ts'

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

export const creating: Part = {
  name: 'creating',
  given: '',
  rows: [
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
      stderr: 'error: twice.yaml: duplicate field data.a\n',
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
      stdin: `apiVersion: v1\nkind: Widget\nmetadata: {name: x}\n---\n${map('beside')}`,
      stdout: 'configmap/beside created\n',
      stderr: 'error: STDIN: no matches for kind "Widget" in version "v1": see `orchctl api-resources`\n',
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
    r('create', '-f - --dry-run -o name', { stdin: map('dry'), stdout: 'configmap/dry\n' }),
    r('create', '-f - --dry-run=true -o name', { stdin: map('dry'), stdout: 'configmap/dry\n' }),
    r('create', '-f - --dry-run=false', { stdin: map('wet'), stdout: 'configmap/wet created\n' }),
    r('create', '-f -', { stdin: map('got', ', resourceVersion: "7"'), stdout: 'configmap/got created\n' }),
    r('create', '-f - --dry-run=client', {
      stdin: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j1"},"data":{"x":"}{"}}
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j2"}} {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j3"}}`,
      stdout: 'configmap/j1 created (dry run)\nconfigmap/j2 created (dry run)\nconfigmap/j3 created (dry run)\n',
    }),
    r('create', '-f - --dry-run=maybe', {
      stderr: 'error: --dry-run: "maybe" is not one of none, client, server\n',
      code: 1,
    }),
    r('create', '', { stderr: /^error: specify files with -f, or a kind to create/, code: 1 }),
    r('create', 'confgmap x', {
      stderr: 'error: unknown command "confgmap"; did you mean configmap? (orchctl create help)\n',
      code: 1,
    }),
    r('create namespace', 'shop', { stdout: 'namespace/shop created\n' }),
    r('create namespace', '', { stderr: 'error: exactly one NAME is required, got none\n', code: 1 }),
    r('create configmap', 'offline --dry-run=client -o name --kubeconfig=none', { stdout: 'configmap/offline\n' }),
    r('create deployment', 'offline --image=nginx --dry-run=client -o name --server=127.0.0.1:1', {
      stdout: 'deployment.apps/offline\n',
    }),
    r('create role', 'offline --verb=get --resource=pods --dry-run=client --kubeconfig=none', {
      stderr:
        'error: no kubeconfig found: DIR/none: no such file or directory\nStart a server with `orch up`, or specify the kubeconfig of a server with --kubeconfig.\n',
      code: 1,
    }),
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
    r('create secret tls', 'site --cert=admin.kubeconfig --key=admin.kubeconfig', {
      stderr: 'error: --cert: admin.kubeconfig contains no certificate in PEM format\n',
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
    r('create role', 'reader --verb=get --resource=deployments.nope', {
      stderr:
        'error: the server doesn\'t have a resource type "deployments" in group "nope"; did you mean "deployments.apps"?\n',
      code: 1,
    }),
    r('create role', 'reader --resource=pods', {
      stderr: 'error: at least one verb must be specified: --verb=get\n',
      code: 1,
    }),
    // As in kubectl, `*` alone selects the core group.
    r('create role', "star --verb=get,* --resource=pods,* --dry-run=client -o 'jsonpath={.rules}'", {
      stdout: '[{"apiGroups":[""],"resources":["*"],"verbs":["*"]}]',
    }),
    r('create role', "stars --verb=get --resource=*.apps,*/log,po,pods,*.* --dry-run=client -o 'jsonpath={.rules}'", {
      stdout:
        '[{"apiGroups":[""],"resources":["*/log","pods"],"verbs":["get"]},{"apiGroups":["*"],"resources":["*"],"verbs":["get"]},{"apiGroups":["apps"],"resources":["*"],"verbs":["get"]}]',
    }),
    r(
      'create role',
      "scaler --verb=get,get --resource=deployments.apps/scale --resource-name=a --resource-name=a --resource-name=b,c --dry-run=client -o 'jsonpath={.rules}'",
      {
        stdout:
          '[{"apiGroups":["apps"],"resourceNames":["a","b,c"],"resources":["deployments/scale"],"verbs":["get"]}]',
      },
    ),
    r(
      'create clusterrole',
      "actor --verb=impersonate --resource=users,userextras.authentication.k8s.io/scopes --dry-run=client -o 'jsonpath={.rules}'",
      {
        stdout:
          '[{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"]},{"apiGroups":["authentication.k8s.io"],"resources":["userextras/scopes"],"verbs":["impersonate"]}]',
      },
    ),
    r('create role', 'typo --verb=get,lst --resource=pods', {
      stderr: 'error: unknown verb "lst"; did you mean list?\n',
      code: 1,
    }),
    r('create role', 'signer --verb=sign --resource=pods --dry-run=client -o name', {
      stdout: 'role.rbac.authorization.k8s.io/signer\n',
      stderr: /^Warning: 'sign' is not a standard resource verb \(get, list, .*, \*\)\n$/,
    }),
    r('create role', 'user --verb=use --resource=pods', {
      stderr: "error: can not perform 'use' on 'pods': only on podsecuritypolicies.policy\n",
      code: 1,
    }),
    r('create role', 'part --verb=get --resource=.apps', {
      stderr: 'error: --resource: the resource type before the group or subresource is missing\n',
      code: 1,
    }),
    r('create clusterrole', 'prober --verb=list --non-resource-url=/metrics', {
      stderr: /^error: invalid verb "list" for --non-resource-url: use get, .* or \*\n$/,
      code: 1,
    }),
    r('create clusterrole', 'prober --verb=get --non-resource-url=metrics', {
      stderr: 'error: --non-resource-url "metrics" must start with /\n',
      code: 1,
    }),
    r('create clusterrole', 'prober --verb=get', {
      stderr: 'error: one of --resource and --non-resource-url must be specified\n',
      code: 1,
    }),
    r('create rolebinding', 'readers --role=reader --user=alice --serviceaccount=default:robot', {
      stdout: 'rolebinding.rbac.authorization.k8s.io/readers created\n',
    }),
    r('create clusterrole', 'rows-all --aggregation-rule=part-of=rows -o jsonpath={.aggregationRule}', {
      stdout: '{"clusterRoleSelectors":[{"matchLabels":{"part-of":"rows"}}]}',
    }),
    r('create clusterrole', 'rows-all --aggregation-rule=a=b --verb=get', {
      stderr: /--aggregation-rule cannot be combined/,
      code: 1,
    }),
    r('auth reconcile', '-f -', {
      stdin: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
`,
      stdout: 'role.rbac.authorization.k8s.io/reconciled reconciled\n',
    }),
    r('auth reconcile', '-f -', {
      stdin: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled, namespace: to-come}
rules: []
`,
      stdout: 'role.rbac.authorization.k8s.io/reconciled reconciled\n',
    }),
    r('auth reconcile', '-f - -o jsonpath={.rules[*].verbs}', {
      stdin: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
- {apiGroups: [""], resources: [pods], verbs: [delete]}
`,
      stdout: '["get","list"] ["delete"]',
    }),
    r('auth reconcile', '-f - --remove-extra-permissions -o jsonpath={.rules[*].verbs}', {
      stdin: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled}
rules: [{apiGroups: [""], resources: [pods], verbs: [delete]}]
`,
      stdout: '["delete"]',
    }),
    r('auth reconcile', '-f -', {
      stdin: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      stderr: 'Warning: configmap/a is neither a role nor a binding: skipped\n',
    }),
    r('create clusterrole', 'prober --verb=get --non-resource-url=/metrics', {
      stdout: 'clusterrole.rbac.authorization.k8s.io/prober created\n',
    }),
    r('create clusterrolebinding', 'probers --clusterrole=prober --group=ops', {
      stdout: 'clusterrolebinding.rbac.authorization.k8s.io/probers created\n',
    }),
    r('create deployment', 'idle --image=busybox --replicas=2 -- sleep 60', {
      stdout: 'deployment.apps/idle created\n',
    }),
    r(
      'create deployment',
      "pair --image=x/my.app_a:1 --image=busybox --port=80 --dry-run=client -o 'jsonpath={.spec.template.spec.containers}'",
      {
        stdout:
          '[{"image":"x/my.app_a:1","name":"my-app-a","ports":[{"containerPort":80}]},{"image":"busybox","name":"busybox"}]',
      },
    ),
    r('create quota', 'wrong --hard=pods=many --dry-run=client', {
      stderr: 'error: --hard: "many" is not a valid quantity for pods, such as 200m or 512Mi\n',
      code: 1,
    }),
    r('create poddisruptionbudget', 'wrong --selector=a=b --min-available=1 --max-unavailable=1', {
      stderr: 'error: min-available and max-unavailable cannot be both specified\n',
      code: 1,
    }),
    r('create job', 'once --image=busybox -- date', { stdout: 'job.batch/once created\n' }),
    r('create cronjob', "nightly --image=busybox --schedule='0 3 * * *'", {
      stdout: 'cronjob.batch/nightly created\n',
    }),
    r('create job', 'now --from=cronjob/nightly', { stdout: 'job.batch/now created\n' }),
    r('create quota', 'small --hard=pods=10,cpu=1', { stdout: 'resourcequota/small created\n' }),
    r('create priorityclass', 'high --value=1000', { stdout: 'priorityclass.scheduling.k8s.io/high created\n' }),
    r(
      'create poddisruptionbudget',
      `x --selector='a=b,c,d notin (e)' --min-available=1 --dry-run=client -o jsonpath={.spec.selector}`,
      {
        stdout:
          '{"matchExpressions":[{"key":"c","operator":"Exists"},{"key":"d","operator":"NotIn","values":["e"]}],"matchLabels":{"a":"b"}}',
      },
    ),
    r('create poddisruptionbudget', 'web --selector=app=web --min-available=50%', {
      stdout: 'poddisruptionbudget.policy/web created\n',
    }),
    r('create ingress', "site --rule='shop.example.com/*=web:80,tls=site'", {
      stdout: 'ingress.networking.k8s.io/site created\n',
    }),
    r('create service clusterip', 'inner --tcp=80:8080 --tcp=443 -o jsonpath={.spec.ports}{.spec.selector}', {
      stdout:
        '[{"name":"80-8080","port":80,"protocol":"TCP","targetPort":8080},{"name":"443","port":443,"protocol":"TCP","targetPort":443}]{"app":"inner"}',
    }),
    r('create service clusterip', 'bare --clusterip=None', { stdout: 'service/bare created\n' }),
    r('create service clusterip', 'none', {
      stderr: 'error: at least one tcp port specifier must be provided\n',
      code: 1,
    }),
    r('create service nodeport', 'outer --tcp=80:web', { stdout: 'service/outer created\n' }),
    r('create service loadbalancer', 'wide --tcp=80', { stdout: 'service/wide created\n' }),
    r('create service externalname', 'far --external-name=db.example.com -o jsonpath={.spec.externalName}', {
      stdout: 'db.example.com',
    }),
    r('run', 'p --image=nginx --port=80 --expose', {
      stderr: /^Error from server \(Forbidden\): pods "p" is forbidden: failed quota: small/,
      code: 1,
    }),
    r('run', 'p --image=nginx --port=80 --expose --limits=cpu=100m', { stdout: 'service/p created\npod/p created\n' }),
    r('run', 'q --image=busybox --restart=Never --env=A=b=c --dry-run=client -o jsonpath={.spec} -- echo hi', {
      stdout:
        '{"containers":[{"args":["echo","hi"],"env":[{"name":"A","value":"b=c"}],"image":"busybox","name":"q"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Never"}',
    }),
    r('expose', '-f unmade.yaml --port=80 --dry-run=client -o jsonpath={.spec.selector}', {
      files: { 'unmade.yaml': web.replace('name: web', 'name: unmade') },
      stdout: '{"app":"web"}',
    }),
    r('expose', '-f unmade.yaml --port=80', {
      files: { 'unmade.yaml': web.replace(/ {2}selector: .*\n/, '') },
      stderr: 'error: invalid deployment: no selectors, therefore cannot be exposed; use --selector\n',
      code: 1,
    }),
    r('expose', '-f unmade.yaml --port=80 --selector=a=b --dry-run=client', {
      files: { 'unmade.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: bare}\n' },
      stdout: 'service/bare exposed (dry run)\n',
    }),
    r('autoscale', '-f deploy.yaml --max=2 --dry-run=client', {
      files: { 'deploy.yaml': web },
      stdout: 'horizontalpodautoscaler.autoscaling/web autoscaled (dry run)\n',
    }),
    r('run', 'p --image=NotAnImage', {
      stderr: 'error: Invalid image name "NotAnImage": invalid reference format\n',
      code: 1,
    }),
    r(
      'run',
      `p --image=x --port=80 --expose '--service-overrides={"spec":{"type":"NodePort"}}' --dry-run=client -o jsonpath={.spec.type}`,
      { stdout: 'NodePort' },
    ),
    r('run', 'p', { stderr: 'error: required flag(s) "image" not set\n', code: 1 }),
    r('run', `o --image=x '--overrides={"spec":{"nodeName":"m"}}' --dry-run=client -o jsonpath={.spec.nodeName}`, {
      stdout: 'm',
    }),
    r(
      'run',
      `o --image=x --override-type=strategic '--overrides={"spec":{"containers":[{"name":"o","tty":true}]}}' --dry-run -o jsonpath={.spec.containers}`,
      { stdout: '[{"image":"x","name":"o","tty":true}]' },
    ),
    r(
      'run',
      `o --image=x --override-type=json '--overrides=[{"op":"add","path":"/spec/nodeName","value":"m"}]' --dry-run -o jsonpath={.spec.nodeName}`,
      { stdout: 'm' },
    ),
    r('run', `o --image=x --override-type=json '--overrides=[{"op":"remove","path":"/spec/none"}]' --dry-run`, {
      stderr: /^error: --overrides: /,
      code: 1,
    }),
    r('run', 'o --image=x --overrides=[]', {
      stderr: 'error: --overrides must be a JSON object such as {"spec": ...}\n',
      code: 1,
    }),
    r('run', `o --image=x -t`, {
      stderr: 'error: -i/--stdin is required for containers with -t/--tty=true\n',
      code: 1,
    }),
    // No node runs the pod, so waiting for its deletion would never end. The command therefore needs a flag.
    r(
      'run',
      `rm1 --image=x --limits=cpu=1m --attach --rm --pod-running-timeout=1ms '--overrides={"metadata":{"finalizers":["example.com/x"]}}'`,
      {
        stdout: 'pod "rm1" deleted\n',
        stderr: 'error: timed out waiting for the condition on pods/rm1\n',
        code: 1,
      },
    ),
    r(
      'run',
      `rm2 --image=x --limits=cpu=1m --attach --rm --wait --timeout=1ms --pod-running-timeout=1ms '--overrides={"metadata":{"finalizers":["example.com/x"]}}'`,
      {
        stdout: 'pod "rm2" deleted\n',
        stderr: 'error: timed out waiting until pod "rm2" is gone\n',
        code: 1,
      },
    ),
    r('run', `o --image=x --rm`, { stderr: 'error: --rm should only be used for attached containers\n', code: 1 }),
    r('run', 'o --image=x -i --hostport=81 --port=80 --privileged --dry-run=client -o jsonpath={.spec.containers}', {
      stdout:
        '[{"image":"x","name":"o","ports":[{"containerPort":80,"hostPort":81}],"securityContext":{"privileged":true},"stdin":true,"stdinOnce":true}]',
    }),
    r('create', 'configmap hashed --from-literal=a=b --append-hash -o name', {
      stdout: 'configmap/hashed-4dk9m7dmmg\n',
    }),
    r('create', `-f - -l app=x -o name`, {
      stdin: `${map('kept-out')}---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: chosen, labels: {app: x}}}`,
      stdout: 'configmap/chosen\n',
    }),
    r('create', '--raw /api/v1/namespaces -f - --edit', {
      stderr: 'error: --raw and --edit are mutually exclusive\n',
      code: 1,
    }),
    r('create', '--raw /api/v1/namespaces -f - -o yaml', { stderr: /--raw and --output are mutually excl/, code: 1 }),
    r('create', '--raw /api/v1/namespaces/default/configmaps?dryRun=All -f -', {
      stdin: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw"}}',
      stdout: /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"raw"/,
    }),
    r('create', 'configmap noted --save-config -o yaml', {
      stdout: /last-applied-configuration: \|\n +\{"apiVersion"/,
    }),
    r('expose', 'deploy idle --port=80 --target-port=http', { stdout: 'service/idle exposed\n' }),
    r('expose', 'pod p --name=p2 --type=NodePort -o jsonpath={.spec.type}{.spec.selector}{.spec.ports[0].port}', {
      stdout: 'NodePort{"run":"p"}80',
    }),
    r('expose', 'deploy idle --name=x --port=80 --generator=service/v1 --dry-run -o jsonpath={.spec.ports[0].name}', {
      stdout: 'default',
    }),
    r('create', 'configmap files --from-file=x.txt,y=x.txt --dry-run -o jsonpath={.data}', {
      files: { 'x.txt': 'hello' },
      stdout: '{"x.txt":"hello","y":"hello"}',
    }),
    r('expose', 'deploy idle --name=x', {
      stderr: "error: couldn't find port via --port flag or introspection\n",
      code: 1,
    }),
    r('expose', `pod p --name=${'x'.repeat(64)}`, { stderr: /metadata\.name: Invalid value/, code: 1 }),
    r('create', 'clusterrole both --verb=get --resource=pods --non-resource-url=/logs/ -o jsonpath={.rules}', {
      stdout:
        '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]},{"nonResourceURLs":["/logs/"],"verbs":["get"]}]',
    }),
    r('expose', 'cm one --port=80', { stderr: 'error: cannot expose a ConfigMap\n', code: 1 }),
    r('autoscale', 'deploy idle --max=5 --min=2', {
      stdout: 'horizontalpodautoscaler.autoscaling/idle autoscaled\n',
    }),
    r('autoscale', 'cm one --max=5', {
      stderr: 'error: cannot autoscale a ConfigMap: it has no scale subresource\n',
      code: 1,
    }),
    r('autoscale', 'deploy idle --max=1 --min=2', {
      stderr: 'error: --max=MAXPODS must be larger or equal to --min=MINPODS, max: 1, min: 2\n',
      code: 1,
    }),
  ],
}
