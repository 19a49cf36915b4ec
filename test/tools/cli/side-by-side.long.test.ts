/**
 * Runs kubectl and orchctl side by side. Both run the lines in order, each in its own namespace on the same server, and
 * must print the same output. If the outputs for a row differ intentionally, the row states the reason. The last test
 * counts the rows.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { serveUp } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { long } from '../../support/long.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'
import type { Ran } from '../../support/run-command.ts'
import { withoutRootCa } from '../../support/server.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])
const { directory } = server

const files: { readonly [name: string]: string } = {
  'maps.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {app: x}}
data: {k: v}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {app: x}}
`,
  'maps2.yaml': `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: x}}, data: {k: w}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {app: x}}}
`,
  'web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: one, image: nginx, env: [{name: A, value: "1"}, {name: B, value: "2"}], ports: [{containerPort: 80}]}
      - {name: two, image: busybox, args: [sleep, "5"]}
      volumes:
      - {name: v, configMap: {name: a}}
`,
  'web2.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: two, image: "busybox:2", args: [sleep, "5"]}
      - {name: one, image: nginx, env: [{name: B, value: "3"}]}
`,
  'service.yaml': `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: admin, port: 81}]
`,
  'empty.yaml': '# nothing\n',
  'kustomization.yaml': 'resources: [kust.yaml]\nnamePrefix: k-\nconfigMapGenerator: [{name: gen, literals: [a=1]}]\n',
  'kust.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: kust}\nspec: {ports: [{port: 80}]}\n',
}

before(async () => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  for (const name of ['ours', 'theirs'])
    assert.equal((await server.client().post('/api/v1/namespaces', { metadata: { name } })).status, 201)
})

async function run(program: 'orchctl' | 'kubectl', line: string): Promise<Ran> {
  const words = line.match(/(?:'[^']*'|[^\s'])+/g) ?? []
  const args = words.map((word) => word.replaceAll("'", '').replace(/^FILE:/, `${directory}/`))
  const place = ['-n', program === 'orchctl' ? 'ours' : 'theirs']
  if (program === 'kubectl') return await kubectl(server, [...place, ...args])
  return await orchctl([...place, ...args], { env: { KUBECONFIG: configOf(server) }, directory })
}

/** Masks values that differ between runs and namespaces. */
function masked(text: string): string {
  return text
    .replaceAll(/\b(?:ours|theirs)\b/g, 'NAMESPACE')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID')
    .replaceAll(/"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"?/g, 'TIME')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000/g, 'DATE')
    .replaceAll(/resourceVersion("?): "\d+"/g, 'resourceVersion$1: "N"')
    .replaceAll(/\b10\.\d+\.\d+\.\d+\b *\n?/g, 'ADDRESS ')
    .replaceAll(/\b(?:\d+s|\d+m(?:\d+s)?)\b *(?=\n|[A-Za-z<]|$)/g, 'AGE ')
    .replaceAll(/creationTimestamp: null\n\s*/g, '')
    .replaceAll(/"creationTimestamp": null,\n\s*/g, '')
}

/**
 * The lines in order. If the outputs for a line differ intentionally, the line has a reason. Lines with a plus run only
 * in the long variant, because they change nothing and test the same feature as another line.
 */
const rows: readonly (string | readonly [line: string, why: string])[] = [
  'create -f FILE:maps.yaml',
  '+ create -f FILE:nothing.yaml',
  '+ create -f FILE:empty.yaml',
  'get cm -l app=x',
  ['apply -f FILE:maps2.yaml -o name', 'orchctl words the missing last-applied annotation differently'],
  'apply -f FILE:maps2.yaml',
  ['apply -f FILE:maps2.yaml --dry-run=client', 'orchctl reports unchanged objects as unchanged'],
  'get cm -l app=x -o custom-columns=NAME:.metadata.name,L:.metadata.labels',
  'label cm a absent-',
  'apply -f FILE:maps2.yaml --dry-run=server',
  'apply view-last-applied cm a',
  '+ apply view-last-applied cm/a -o json',
  '+ apply view-last-applied -f FILE:maps2.yaml',
  '+ apply view-last-applied cm nothing',
  "+ get cm a -o 'jsonpath={.data}'",
  'get cm -l app=x -o \'jsonpath={range .items[*]}{.metadata.name}={.data.k}{"\\n"}{end}\'',
  '+ get cm -l app=x -o \'jsonpath={.items[?(@.metadata.name=="a")].data.k}\'',
  "get cm -l app=x -o 'jsonpath={.items[0].metadata.name} {.items[-1].metadata.name} {.items[0:2].metadata.name}'",
  '+ get cm a -o \'jsonpath={.metadata.labels}{" x "}{.nothing}{..app}\'',
  `get cm -l app=x -o 'go-template={{range .items}}{{.metadata.name}}:{{.data.k}} {{len .metadata.labels}}{{"\\n"}}{{end}}'`,
  '+ get cm a --template={{.metadata.labels}}',
  '+ get cm -l app=x -o jsonpath-as-json={.items[*].metadata.labels}',
  'get cm -l app=x --sort-by=.metadata.name',
  '+ get cm -l app=x --sort-by=.metadata.name -o name',
  '+ get cm -l app=x -o custom-columns=NAME:.metadata.name,K:.data.k',
  'get cm -l app=x -L app',
  '+ get cm -l app=x --show-kind',
  'get cm nothing --ignore-not-found',
  'get cm a -n nowhere',
  'label cm a k=v -n nowhere',
  '+ describe cm a -n nowhere',
  '+ logs a -n nowhere',
  '+ get node a -n nowhere',
  '+ get cm a -n nowhere --ignore-not-found',
  'get all',
  'apply -f FILE:web.yaml',
  'apply -f FILE:web2.yaml',
  "get deploy web -o 'jsonpath={.spec.template.spec}'",
  "+ get deploy web -o 'jsonpath={.spec.strategy}'",
  '+ apply -f FILE:web.yaml --server-side --dry-run=client',
  'apply -f FILE:service.yaml --server-side',
  'get deploy,svc',
  'describe deploy web',
  'describe svc web',
  'describe cm a',
  '+ describe cm -l app=x',
  '+ describe cm nothing',
  'label cm a new=1',
  '+ label cm a new=2',
  'label cm a new=2 --overwrite',
  'label cm a new-',
  'label cm -l app=x all=yes',
  'annotate cm a note=hello',
  '+ annotate cm a note=other',
  'annotate cm --all seen=1',
  `patch cm a -p '{"data":{"k":"p"}}'`,
  `patch cm a --type=json -p '[{"op":"add","path":"/data/n","value":"m"}]' -o name`,
  `patch cm a --type=merge -p '{"data":null}' -o 'jsonpath={.data}'`,
  'scale deploy web --replicas=3',
  'scale deploy web --replicas=3 --current-replicas=1',
  '+ scale deploy nothing --replicas=3',
  'set image deploy/web one=nginx:5',
  'set image deploy/web one=nginx:5',
  ['+ set image deploy web nope=x', 'orchctl lists the existing containers'],
  'set env deploy/web A=1 C=2',
  '+ set env deploy/web --list',
  '+ set env deploy/web C-',
  'create configmap vars --from-literal=k-2=w',
  'set env deploy/web --from=configmap/vars',
  'set env deploy/web --list --resolve',
  'set resources deploy/web --limits=cpu=1,memory=1Gi --requests=cpu=100m',
  'set serviceaccount deploy web robot',
  '+ set selector svc web app=web,tier=front',
  'rollout pause deploy web',
  'rollout pause deploy web',
  'rollout resume deploy web',
  'rollout status deploy web --watch=false',
  '+ get deploy web -o jsonpath={.spec.template.spec}',
  'expose deploy web --name=front --port=80 --target-port=http --type=NodePort',
  '+ get svc front -o jsonpath={.spec.selector}{.spec.type}',
  'autoscale deploy web --max=5 --min=2 --cpu-percent=80',
  'run once --image=nginx --expose --port=80',
  'create service clusterip inner --tcp=80:8080 --tcp=443',
  '+ get svc inner -o jsonpath={.spec.ports}{.spec.selector}',
  '+ cordon nothing',
  'replace -f FILE:maps2.yaml',
  'create configmap lit --from-literal=a=1 --from-file=FILE:empty.yaml',
  'create configmap lit --from-literal=a=1',
  '+ get cm lit -o jsonpath={.data}',
  ['get cm liit', 'orchctl suggests a similar name'],
  ['+ get confgmap', 'orchctl suggests a similar type'],
  ['+ label cm lit', 'orchctl explains the label syntax'],
  ['+ delete cm', 'orchctl lists the ways to select objects'],
  ['+ patch cm lit', 'orchctl names the missing flags'],
  ['create namespace extra --dry-run=client -o yaml', 'orchctl omits empty fields'],
  'create secret generic s --from-literal=user=me',
  'describe secret s',
  '+ create secret generic t --from-literal=user=me --dry-run=client -o yaml',
  'create serviceaccount robot',
  '+ create deployment idle --image=nginx --dry-run=client -o jsonpath={.spec.selector}',
  'create role r --verb=get --verb=list --resource=pods,deployments.apps',
  '+ get role r -o jsonpath={.rules}',
  'describe role r',
  '+ describe clusterrole admin',
  'create rolebinding rb --role=r --user=u --group=g --serviceaccount=NAMESPACE:robot',
  '+ get rolebinding rb -o jsonpath={.subjects}',
  'create quota q --hard=pods=5',
  'create job j --image=busybox -- date',
  '+ describe rolebinding rb',
  '+ describe quota q',
  '+ describe serviceaccount robot',
  'auth can-i get pods',
  '+ auth can-i get pods --as nobody',
  'auth can-i --list',
  'explain configmap',
  '+ explain pod.spec.containers.resources',
  '+ explain pod.spec.containers.env --recursive',
  '+ explain pod.metadata --recursive',
  ['explain deployment.spec.strategy', 'orchctl does not repeat equal descriptions of a field and its type'],
  ['+ explain nothing', 'orchctl prefixes the reason with error'],
  'api-versions',
  '+ get deploy web -o \'go-template={{range .spec.template.spec.containers}}{{.name}} {{.image}}{{"\\n"}}{{end}}\'',
  '+ get cm a -o \'go-template={{.nothing}} {{len .metadata.labels}} {{printf "%-6s|" .metadata.name}}\'',
  ['+ get cm a --template={{.metadata.name.x}}', 'orchctl shows the position of the error instead of the whole object'],
  '+ get cm a -o jsonpath-as-json={.metadata.labels}',
  [
    '+ get cm a -o jsonpath={.nope} --allow-missing-template-keys=false',
    'orchctl names the missing key instead of printing the whole object',
  ],
  "+ create configmap made --from-literal=a=1 --dry-run=client -o 'go-template={{.data.a}}'",
  '+ logs nothing',
  ['+ logs', 'orchctl has a shorter usage message'],
  '+ exec nothing -- date',
  '+ attach nothing',
  '+ port-forward nothing 80',
  '+ cp FILE:nothing.yaml nothing:/x',
  '+ kustomize FILE:.',
  '+ apply -k FILE:.',
  '+ delete -k FILE:.',
  '+ api-resources --verbs=list,create --api-group=batch --no-headers -o name',
  ['+ top nodes', 'orchctl suggests a command that needs no metrics API'],
  'create ingress site --rule=a.example.com/*=web:80,tls=s --class=c',
  '+ get ingress site -o jsonpath={.spec}',
  ['+ create poddisruptionbudget pdb --selector=app=web --min-available=1', 'kubectl 1.20 sends a deprecated version'],
  ["+ create cronjob cj --image=busybox --schedule='* * * * *' -- date", 'kubectl 1.20 sends a deprecated version'],
  'wait cm/a --for=delete --timeout=1s',
  "+ wait cm/lit --for=delete --timeout=0 -o 'jsonpath={.metadata.name}'",
  'get cm,svc --server-print=false',
  '+ get cm -l app=x --server-print=false --show-labels --no-headers',
  '+ get cm a --logtostderr=true --as-group=system:masters --as=me -o name',
  '+ -n nowhere get cm lit -n default --ignore-not-found',
  '+ create configmap several --from-file=FILE:maps.yaml,FILE:web.yaml --dry-run=client -o jsonpath={.data}',
  '+ expose deploy web --port=80 --generator=service/v1 --dry-run=client -o jsonpath={.spec}',
  '+ create -f FILE:maps.yaml,FILE:web.yaml --dry-run=client',
  `patch cm lit --dry-run=client -p '{"data":{"a":"2"}}' -o 'jsonpath={.data.a}'`,
  ['+ rollout history deploy web -o name', 'orchctl prints the revisions instead of the deployment'],
  '+ wait cm/nothing --for=condition=Ready',
  'delete cm a --dry-run=server',
  'delete cm a b',
  'delete cm a',
  '+ delete cm a --ignore-not-found',
  'delete cm -l app=x',
  'delete -f FILE:web.yaml',
  '+ delete cm,secret -l none=such',
  '+ get deploy',
]

for (const row of rows) {
  const [marked, why] = typeof row === 'string' ? [row] : row
  if (marked.startsWith('+ ') && !long) continue
  const line = marked.replace('+ ', '')
  test(
    why === undefined ? `prints the same as kubectl: ${line}` : `differs from kubectl (${why}): ${line}`,
    async () => {
      const [ours, theirs] = await Promise.all([run('orchctl', line), run('kubectl', line)])
      assert.equal(ours.code, theirs.code)
      if (why !== undefined) return assert.notDeepEqual(said(ours), said(theirs))
      assert.equal(masked(ours.stdout), masked(theirs.stdout))
      assert.equal(masked(ours.stderr), masked(theirs.stderr))
    },
  )
}

function said({ stdout, stderr }: Ran): string[] {
  return [masked(stdout), masked(stderr)]
}

test('at least 130 commands print the same output as kubectl, and at most 18 commands differ intentionally', () => {
  const decided = rows.filter((row) => typeof row !== 'string').length
  assert.ok(rows.length - decided > 129, `${rows.length - decided} the same`)
  assert.ok(decided <= 18, `${decided} by decision`)
})
