/**
 * Tests kustomizations. The test builds valid and invalid kustomizations. In the long variant, it compares the results
 * with those of kubectl if the installed kubectl supports the fields. No server is needed. `rows/apply.ts` covers
 * `apply -k` and similar commands.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { long } from '../../support/long.ts'
import { orchctl } from '../../support/orchctl.ts'
import type { Ran } from '../../support/run-command.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-kustomize-'))
after(() => rmSync(directory, { recursive: true }))

type Files = { readonly [name: string]: string }

let count = 0
/** Writes the files to a new directory and returns its name. */
function write(files: Files): string {
  const root = join(directory, `case-${++count}`)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

async function build(root: string, name = '.'): Promise<Ran> {
  return await orchctl(['kustomize', name], { directory: root, env: { FROM_ENV: 'given' } })
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {run: web}}
  template:
    metadata: {labels: {run: web}}
    spec:
      serviceAccountName: robot
      containers:
      - name: one
        image: nginx:1
        args: [--host=$(HOST), $$(HOST)]
        env: [{name: A, valueFrom: {configMapKeyRef: {name: conf, key: a}}}]
        envFrom: [{secretRef: {name: login}}]
      - {name: two, image: "registry.example.com:5000/busybox:1"}
      volumes: [{name: v, configMap: {name: conf}}, {name: p, projected: {sources: [{secret: {name: login}}]}}]
`
const others = `apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: robot, namespace: default}]
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata: {name: site}
spec: {rules: [{host: a, http: {paths: [{path: /, backend: {serviceName: web, servicePort: 80}}]}}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {list: [1, 2], deep: {a: 1, b: 2}}
`
const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n'

const overlay: Files = {
  'base/kustomization.yaml': `resources: [web.yaml, others.yaml, service.yaml]
configMapGenerator:
- name: conf
  literals: [a=1, "b=x y"]
  files: [conf.ini, other=conf.ini]
- {name: variables, env: vars.env}
secretGenerator:
- {name: login, literals: [user=me, "password='se cret'", "odd=<a>&b"]}
commonLabels: {app: web}
vars:
- {name: HOST, objref: {apiVersion: v1, kind: Service, name: web}}
`,
  'base/web.yaml': web,
  'base/others.yaml': others,
  'base/service.yaml': service,
  'base/conf.ini': 'x = 1\ny = 2\n',
  'base/vars.env': '# a comment\nONE=1\nTWO=2=2\n\n',
  'over/kustomization.yaml': `bases: [../base]
namePrefix: prod-
nameSuffix: -v1
namespace: shop
commonAnnotations: {note: hi}
commonLabels: {env: prod}
images:
- {name: nginx, newTag: "2.0"}
- {name: "registry.example.com:5000/busybox", newName: box, digest: "sha256:def"}
patchesStrategicMerge: [patch.yaml]
patchesJson6902:
- target: {version: v1, kind: Service, name: web}
  path: json.yaml
configMapGenerator:
- {name: conf, behavior: merge, literals: [a=2, c=3]}
generatorOptions: {labels: {made: "yes"}}
`,
  'over/patch.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: one, resources: {limits: {cpu: 1}}}
      - {name: three, image: nginx}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {list: [3], deep: {a: null}}
`,
  'over/json.yaml': '- {op: add, path: /spec/type, value: NodePort}\n',
}

interface Built {
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  [field: string]: unknown
}

function objectsOf({ stdout, stderr }: Ran): Built[] {
  assert.equal(stderr, '')
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

function byKind(ran: Ran, kind: string): Built {
  const found = objectsOf(ran).filter((object) => object.kind === kind)
  assert.equal(found.length, 1, `${found.length} of ${kind}`)
  return found[0]!
}

test('a kustomize overlay changes names and references, namespaces, labels, patches, images and generators of its base', async () => {
  const root = write(overlay)
  const ran = await build(root, 'over')
  assert.deepEqual(
    objectsOf(ran).map(({ kind, metadata: { name, namespace } }) => `${kind} ${namespace ?? '-'}/${name}`),
    [
      'ServiceAccount shop/prod-robot-v1',
      'ClusterRoleBinding -/prod-rb-v1',
      'ConfigMap shop/prod-conf-v1-k9g8hckb7d',
      'ConfigMap shop/prod-variables-v1-b5tgk7hhbf',
      'Secret shop/prod-login-v1-c6fdkh7t57',
      'Service shop/prod-web-v1',
      'Deployment shop/prod-web-v1',
      'HorizontalPodAutoscaler shop/prod-web-v1',
      'Widget shop/prod-w-v1',
      'Ingress shop/prod-site-v1',
    ],
  )
  const text = JSON.stringify(byKind(ran, 'Deployment'))
  for (const part of [
    '"serviceAccountName":"prod-robot-v1"',
    '"image":"nginx:2.0"',
    '"image":"box@sha256:def"',
    '"args":["--host=prod-web-v1","$(HOST)"]',
    '"configMapKeyRef":{"key":"a","name":"prod-conf-v1-k9g8hckb7d"}',
    '"name":"three"',
    '"matchLabels":{"app":"web","env":"prod","run":"web"}',
  ])
    assert.ok(text.includes(part), `${part} in ${text}`)
  assert.deepEqual(byKind(ran, 'Widget').spec, { list: [3], deep: { b: 2 } })
  if (long) {
    const theirs = execFileSync('kubectl', ['kustomize', join(root, 'over')], { encoding: 'utf8' })
    const sorted = (all: Built[]) => all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    assert.deepEqual(sorted(objectsOf(ran)), sorted(objectsOf({ stdout: theirs, stderr: '', code: 0 })))
  }
})

test('kustomize patches select targets by name patterns and labels', async () => {
  const root = write({
    'kustomization.yaml': `resources: [web.yaml, service.yaml]
patches:
- target: {kind: Deployment, name: w.*}
  patch: |-
    - op: replace
      path: /spec/replicas
      value: 3
- target: {labelSelector: "tier in (front)"}
  patch: '{"metadata":{"annotations":{"found":"yes"}}}'
- patch: |-
    apiVersion: v1
    kind: Service
    metadata: {name: web}
    $patch: delete
`,
    'web.yaml': web.replace('{name: web}', '{name: web, labels: {tier: front}}'),
    'service.yaml': service,
  })
  const [deployment, ...more] = objectsOf(await build(root))
  assert.equal(more.length, 0)
  assert.equal((deployment!.spec as { replicas: number }).replicas, 3)
  assert.deepEqual(deployment!.metadata, { name: 'web', labels: { tier: 'front' }, annotations: { found: 'yes' } })
})

test('kustomize components, labels without selectors, replicas and generators with options are supported', async () => {
  const root = write({
    'kustomization.yaml': `resources: [web.yaml]
components: [part]
labels: [{pairs: {team: a}}, {pairs: {size: s}, includeTemplates: true}]
replicas: [{name: web, count: 4}]
configMapGenerator:
- {name: plain, envs: [some.env], options: {disableNameSuffixHash: true, immutable: true, annotations: {a: b}}}
`,
    'web.yaml': web,
    'some.env': 'FROM_ENV\nNOT_THERE\nX=1\n',
    'part/kustomization.yaml': 'kind: Component\nnamePrefix: c-\nresources: [more.yaml]\n',
    'part/more.yaml': service,
  })
  const ran = await build(root)
  assert.deepEqual(byKind(ran, 'ConfigMap'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { FROM_ENV: 'given', X: '1' },
    immutable: true,
    metadata: { name: 'plain', annotations: { a: 'b' }, labels: { size: 's', team: 'a' } },
  })
  const { spec, metadata } = byKind(ran, 'Deployment') as unknown as {
    spec: { replicas: number; selector: object; template: { metadata: object } }
    metadata: object
  }
  assert.deepEqual(metadata, { name: 'c-web', labels: { size: 's', team: 'a' } })
  assert.deepEqual([spec.replicas, spec.selector], [4, { matchLabels: { run: 'web' } }])
  assert.deepEqual(spec.template.metadata, { labels: { run: 'web', size: 's' } })
  assert.equal(byKind(ran, 'Service').metadata.name, 'c-web')
})

test('references in two kustomize bases with the same object names are not mixed up', async () => {
  const part = (name: string) => ({
    [`${name}/kustomization.yaml`]: `namePrefix: ${name}-\nresources: [web.yaml]\nconfigMapGenerator: [{name: conf, literals: [a=${name}]}]\n`,
    [`${name}/web.yaml`]: web,
  })
  const root = write({ ...part('a'), ...part('b'), 'kustomization.yaml': 'resources: [a, b]\nnamespace: shop\n' })
  const built = objectsOf(await build(root))
  for (const name of ['a', 'b']) {
    const map = built.find((object) => object.kind === 'ConfigMap' && object.metadata.name.startsWith(name))!
    const deployment = built.find((object) => object.kind === 'Deployment' && object.metadata.name === `${name}-web`)
    assert.ok(JSON.stringify(deployment).includes(`"configMap":{"name":"${map.metadata.name}"}`))
  }
})

test('a kustomize generator with behavior merge keeps its name and hash setting, and can set the type', async () => {
  const root = write({
    'base/kustomization.yaml': `generatorOptions: {disableNameSuffixHash: true}
secretGenerator: [{name: s, type: example.com/x, literals: [a=1], options: {immutable: true}}]
`,
    'kustomization.yaml': 'resources: [base]\nsecretGenerator: [{name: s, behavior: merge, literals: [b=2]}]\n',
  })
  assert.deepEqual(byKind(await build(root), 'Secret'), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    type: 'Opaque',
    data: { a: 'MQ==', b: 'Mg==' },
  })
})

test('the subject of a binding follows its service account in a kustomization, and otherwise keeps its namespace', async () => {
  const binding = (namespace: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: robot, namespace: ${namespace}}]
`
  for (const [namespace, subject] of [
    ['default', { kind: 'ServiceAccount', name: 'a-robot', namespace: 'default' }],
    ['elsewhere', { kind: 'ServiceAccount', name: 'robot', namespace: 'elsewhere' }],
  ] as const) {
    const root = write({
      'kustomization.yaml': 'namePrefix: a-\nresources: [account.yaml, binding.yaml]\n',
      'account.yaml': 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n',
      'binding.yaml': binding(namespace),
    })
    assert.deepEqual(byKind(await build(root), 'RoleBinding').subjects, [subject])
  }
})

test('a kustomization adds labels only to existing volume claim templates', async () => {
  const set = (claims: string) =>
    `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {serviceName: x${claims}}\n`
  for (const [claims, templates] of [
    ['', undefined],
    [', volumeClaimTemplates: [{metadata: {name: d}}]', [{ metadata: { name: 'd', labels: { a: 'b' } } }]],
  ] as const) {
    const root = write({ 'kustomization.yaml': 'commonLabels: {a: b}\nresources: [s.yaml]\n', 's.yaml': set(claims) })
    const { spec } = byKind(await build(root), 'StatefulSet') as unknown as { spec: { volumeClaimTemplates?: object } }
    assert.deepEqual(spec.volumeClaimTemplates, templates)
  }
})

const refusals: readonly (readonly [why: string, files: Files, error: RegExp])[] = [
  ['no kustomization', {}, /unable to find one of kustomization\.yaml, kustomization\.yml, Kustomization in directory/],
  [
    'a remote base',
    { 'kustomization.yaml': 'resources: ["https://example.com/x"]' },
    /cannot load .*: orchctl builds kustomizations without network access/,
  ],
  [
    'a remote git base',
    { 'kustomization.yaml': 'resources: ["github.com/a/b?ref=c"]' },
    /cannot load .*without network access/,
  ],
  [
    'a file outside the directory',
    { 'kustomization.yaml': 'resources: [../outside.yaml]' },
    /is outside of \.|cannot read/,
  ],
  [
    'an unsupported field',
    { 'kustomization.yaml': 'helmCharts: []' },
    /kustomization\.yaml: "helmCharts" is not supported/,
  ],
  ['a plugin', { 'kustomization.yaml': 'generators: [a.yaml]' }, /"generators" is not supported/],
  ['an unknown field', { 'kustomization.yaml': 'resource: []' }, /unknown field "resource"; did you mean resources\?/],
  ['a wrong type', { 'kustomization.yaml': 'resources: a' }, /kustomization\.yaml: resources is not a list/],
  ['broken YAML', { 'kustomization.yaml': 'a: [b\nc: d' }, /kustomization\.yaml: line 2, column 1: /],
  ['a base that includes itself', { 'kustomization.yaml': 'resources: [.]' }, /includes itself as a base/],
  ['a missing file', { 'kustomization.yaml': 'resources: [no.yaml]' }, /cannot read no\.yaml: ENOENT/],
  [
    'a duplicate object',
    { 'kustomization.yaml': 'resources: [a.yaml, b.yaml]', 'a.yaml': service, 'b.yaml': service },
    /b\.yaml: Service web is already defined in a\.yaml/,
  ],
  [
    'a patch without a target',
    { 'kustomization.yaml': 'patchesStrategicMerge: [a.yaml]', 'a.yaml': service },
    /cannot find exactly one Service "web" to patch: no object matches/,
  ],
  [
    'replicas without a target',
    { 'kustomization.yaml': 'replicas: [{name: x, count: 1}]' },
    /replicas\[0\]: no object with replicas is named "x"/,
  ],
  [
    'a generated name that already exists',
    { 'kustomization.yaml': 'configMapGenerator: [{name: a}, {name: a}]' },
    /ConfigMap a already exists: set behavior to merge or replace/,
  ],
  [
    'an invalid pattern',
    { 'kustomization.yaml': 'patches: [{target: {name: "("}, patch: "[]"}]' },
    /is not a regular expression/,
  ],
]

for (const [why, files, error] of refusals)
  test(`a kustomization is rejected: ${why}`, async () => {
    const root = write({ 'keep.txt': '', ...files })
    const { code, stdout, stderr } = await build(root)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, error)
  })

test('a symbolic link cannot lead outside the kustomization directory', async () => {
  const root = write({ 'kustomization.yaml': 'configMapGenerator: [{name: a, files: [link]}]' })
  writeFileSync(join(directory, 'secret'), 'x')
  symlinkSync(join(directory, 'secret'), join(root, 'link'))
  assert.match((await build(root)).stderr, /link is outside of \./)
  const over = write({ 'over/kustomization.yaml': 'configMapGenerator: [{name: a, files: [../file]}]', file: 'x' })
  assert.match((await build(over, 'over')).stderr, /file is outside of over/)
})

test('field names of a kustomization are case-insensitive and must be unique', async () => {
  const files = { 'map.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' }
  const old = write({ ...files, 'kustomization.yaml': 'resources: [map.yaml]\nnameprefix: old-\n' })
  assert.match((await build(old)).stdout, /^ {2}name: old-a$/m)
  const twice = write({ ...files, 'kustomization.yaml': 'namePrefix: a-\nnameprefix: b-\n' })
  assert.match((await build(twice)).stderr, /duplicate field namePrefix/)
})
