/** Test rows for the commands apply and diff. */
import { map, type Part, r, web } from './row.ts'

const job = (image: string) =>
  `apiVersion: batch/v1
kind: Job
metadata: {name: forced}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: ${image}}]}}}
`

/**
 * A manifest with a custom resource, an object of an undefined kind, and finally the definition of the custom resource.
 */
const custom = `apiVersion: rows.example.com/v1
kind: Widget
metadata: {name: w}
---
${map('beside')}---
apiVersion: rows.example.com/v1
kind: Gadget
metadata: {name: g}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.rows.example.com}
spec:
  group: rows.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, categories: [row-things]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

export const applying: Part = {
  name: 'applying',
  given: `${map('two')}---\n${map('three')}`,
  rows: [
    r('apply', '-f custom.yaml', {
      files: { 'custom.yaml': custom },
      stdout:
        'customresourcedefinition.apiextensions.k8s.io/gadgets.rows.example.com created\nconfigmap/beside created\ngadget.rows.example.com/g created\n',
      stderr: /^error: custom\.yaml: no matches for kind "Widget" in version "rows\.example\.com\/v1"/,
      code: 1,
    }),
    r('get', 'row-things -o name', { stdout: 'gadget.rows.example.com/g\n' }),
    r('delete', 'crd gadgets.rows.example.com', {
      stdout: 'customresourcedefinition.apiextensions.k8s.io "gadgets.rows.example.com" deleted\n',
    }),
    r('delete', 'cm beside', { stdout: 'configmap "beside" deleted\n' }),
    r('apply', '-f web.yaml', { files: { 'web.yaml': web }, stdout: 'deployment.apps/web created\n' }),
    r('apply', '-f web.yaml', { stdout: 'deployment.apps/web unchanged\n' }),
    r('apply', '-f web.yaml --dry-run=server', {
      files: { 'web.yaml': web.replace('        - {name: Z, value: "2"}\n', '').replace('nginx', 'nginx:2') },
      stdout: 'deployment.apps/web configured (server dry run)\n',
    }),
    r('diff', '-f web.yaml', {
      // The last-applied annotation is not shown as a difference.
      stdout: /^(?![\s\S]*\n[-+] +\{)[\s\S]*\n\+ {8}image: nginx:2\n/,
      code: 1,
    }),
    r('apply', '-f web.yaml', { stdout: 'deployment.apps/web configured\n' }),
    r('diff', '-f web.yaml'),
    r('get', "deploy web -o 'jsonpath={.spec.template.spec.containers[*].env}'", {
      stdout: '[{"name":"X","value":"1"}]',
    }),
    r('apply', '-f - -o name', {
      stdin: `${map('p1', ', labels: {set: p}')}---\n${map('p2', ', labels: {set: p}')}`,
      stdout: 'configmap/p1\nconfigmap/p2\n',
    }),
    r('apply', '-f - --prune -l set=p --dry-run=client', {
      stdin: map('p1', ', labels: {set: p}'),
      stdout: 'configmap/p1 unchanged (dry run)\nconfigmap/p2 pruned (dry run)\n',
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
    r('get', "cm p1 -o 'jsonpath={.metadata.managedFields[*].manager}'", { stdout: 'orchctl' }),
    r('label', "cm p1 x=y -o 'jsonpath={.metadata.managedFields[*].operation}'", { stdout: 'Apply Update' }),
    r('get', 'cm p1 -o yaml', { stdout: /^(?!.*managedFields)/s }),
    r('diff', '-f wrong.yaml', {
      files: { 'wrong.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: wrong}\nspec: {containers: [{image: a}]}\n' },
      stderr: /spec.containers\[0\].name: Required value/,
      code: 2,
    }),
    r('get', 'cm p1 -o json -o name', { stdout: 'configmap/p1\n' }),
    r('apply', '-f taken.yaml --server-side --field-manager=another', {
      files: { 'taken.yaml': map('p1').replace('{k: v}', '{k: mine}') },
      stderr: `error: configmap/p1 from taken.yaml was not applied: 1 field has another owner:
  taken.yaml:4:8: .data.k: conflict with "orchctl": owned since TIME, is "v", asked for "mine"
To resolve the conflict, do one of the following:
* to take ownership and set the values from the file, apply again with --force-conflicts
* to leave it to the other owner, remove it from the file
* to share ownership, set the current value in the file
`,
      code: 1,
    }),
    r('apply', '-f taken.yaml --server-side --field-manager=another --force-conflicts', {
      stdout: 'configmap/p1 serverside-applied\n',
    }),
    r('apply', '-f . --force-conflicts', {
      stderr: 'error: --force-conflicts only works with --server-side\n',
      code: 1,
    }),
    r('apply', '-f several.yaml', {
      files: { 'several.yaml': `${map('s1')}---\n${map('S2')}---\n${map('s3')}` },
      stdout: 'configmap/s1 created\nconfigmap/s3 created\n',
      stderr:
        /^Error from server \(Invalid\): error when applying "several\.yaml": ConfigMap "S2" is invalid.*\n {2}several\.yaml:8:12: metadata\.name: .*\n$/,
      code: 1,
    }),
    r('apply', '', { stderr: 'error: no files specified: use -f to specify the files to apply\n', code: 1 }),
    r('kustomize', '.', {
      files: {
        'kustomization.yaml':
          'resources: [map.yaml]\nnamePrefix: pre-\nconfigMapGenerator: [{name: made, literals: [a=1]}]\n',
        'map.yaml': map('kust'),
      },
      stdout:
        'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  name: pre-kust\n---\napiVersion: v1\ndata:\n  a: "1"\nkind: ConfigMap\nmetadata:\n  name: pre-made-m4649hggtm\n',
    }),
    r('apply', '-k .', { stdout: 'configmap/pre-kust created\nconfigmap/pre-made-m4649hggtm created\n' }),
    r('get', '-k . -o name', { stdout: 'configmap/pre-kust\nconfigmap/pre-made-m4649hggtm\n' }),
    r('apply', '-f typed.yaml', {
      files: {
        'typed.yaml': web
          .replace('        - {name: Z, value: "2"}\n', '')
          .replace('spec:\n', 'spec:\n  replicas: two\n'),
      },
      stderr:
        /^Error from server \(Invalid\): .*: spec\.replicas: expected int32, got string\n {2}typed\.yaml:6:3: spec\.replicas\n$/,
      code: 1,
    }),
    r('apply', '-f keyless.yaml', {
      files: { 'keyless.yaml': web.replace('- name: a', '- nam: a') },
      stderr: /: a list element has no merge key "name"; it has nam, image, env\n$/,
      code: 1,
    }),
    // If an object occurs several times, the last occurrence takes effect, even though writes are concurrent.
    r('apply', '-f often.yaml -o name', {
      files: { 'often.yaml': ['1', '2', '3', '4'].map((k) => map('often').replace('k: v', `k: "${k}"`)).join('---\n') },
      stdout: 'configmap/often\n'.repeat(4),
    }),
    r('get', 'cm often -o jsonpath={.data.k}', { stdout: '4' }),
    r('create', '-f created.yaml', {
      files: { 'created.yaml': map('created') },
      stdout: 'configmap/created created\n',
    }),
    r('diff', '-f created.yaml'),
    r('diff', '-k .'),
    r('delete', '-k . -o name', { stdout: 'configmap/pre-kust\nconfigmap/pre-made-m4649hggtm\n' }),
    r('apply', '-k . -f x', { stderr: 'error: -f and -k cannot be used together\n', code: 1 }),
    r('diff', '-f nothing.yaml', { stderr: 'error: the path "nothing.yaml" does not exist\n', code: 2 }),
    r('kustomize', '. -o built.yaml'),
    r('diff', '-f built.yaml', { stdout: /^\+ {2}name: pre-kust$/m, code: 1 }),
    r('kustomize', 'a b', { stderr: 'error: specify a directory with a kustomization.yaml\n', code: 1 }),
    r('apply', '-f job.yaml', { files: { 'job.yaml': job('one') }, stdout: 'job.batch/forced created\n' }),
    r('apply', '-f job.yaml', {
      files: { 'job.yaml': job('two') },
      stderr:
        /^Error from server \(Invalid\): .*field is immutable\n {2}job\.yaml:4:8: spec\.template: Invalid value: \.\.\.: field is immutable\n$/,
      code: 1,
    }),
    r('apply', '-f job.yaml --force', { stdout: 'job.batch/forced configured\n' }),
    // A new object that would be rejected does not cause the existing object to be deleted.
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
    r('apply', '-f - --overwrite=false', {
      stdin: map('s1').replace('{k: v}', '{k: v, m: x}'),
      stdout: 'configmap/s1 configured\n',
    }),
    r('patch', `cm s1 -p '{"data":{"k":"other"}}'`, { stdout: 'configmap/s1 patched\n' }),
    r('apply', '-f - --overwrite=false', {
      stdin: map('s1').replace('{k: v}', '{k: v, m: x}'),
      stderr: 'error: data.k changed since the last apply; omit --overwrite=false to overwrite the changes\n',
      code: 1,
    }),
    r('apply', '-f - --openapi-patch=false', { stdin: map('s1'), stdout: 'configmap/s1 configured\n' }),
    r('apply', '-f - --openapi-patch', {
      stdin: map('s1'),
      stderr: /^error: --openapi-patch: orchctl computes patches/,
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
      stderr:
        'error: no last-applied-configuration annotation found on configmap/two; --create-annotation creates the annotation\n',
      code: 1,
    }),
    r('apply set-last-applied', '-f - --create-annotation', {
      stdin: map('two'),
      stdout: 'configmap/two configured\n',
    }),
    r('apply set-last-applied', '-f -', { stdin: map('two'), stdout: 'set-last-applied two: no changes required.\n' }),
    r('apply', '-f - --dry-run=server', { stdin: map('two'), stdout: 'configmap/two unchanged (server dry run)\n' }),
    r('apply edit-last-applied', 'cm two --windows-line-endings', {
      environment: { EDITOR: 'sed -i "s/k: v\r$/k: w/"' },
      stdout: 'configmap/two edited\n',
    }),
    r('apply view-last-applied', 'cm/two -o json', {
      stdout: /^{\n {2}"apiVersion": "v1",\n {2}"data": {\n {4}"k": "w"\n/,
    }),
    r('get', 'cm two -o jsonpath={.data.k}', { stdout: 'v' }),
    r('apply edit-last-applied', 'cm three', {
      stderr:
        'error: no last-applied-configuration annotation found on configmap/three; `orchctl apply set-last-applied --create-annotation` creates the annotation\n',
      code: 1,
    }),
    r('apply edit-last-applied', 'cm two', {
      environment: { EDITOR: 'sed -i "s/name: two/name: six/"' },
      stderr:
        /^error: kind, name and namespace of the object cannot be changed\nerror: edit cancelled, no valid changes were saved; your edits are in .*object\.yaml\n$/,
      code: 1,
    }),
    r('apply edit-last-applied', 'cm two s1 three', {
      environment: { EDITOR: 'grep -q "^kind: List" "$1" && sed -i "s/k: w/k: x/"' },
      stdout: 'configmap/two edited\nconfigmap/s1 skipped\n',
    }),
    r('apply edit-last-applied', 'cm two s1 -o json', {
      environment: { EDITOR: 'sed -i \'s/"k": "v"/"k": [/\'' },
      stderr:
        /^error: .*object\.json.*\nerror: edit cancelled, no valid changes were saved; your edits are in .*object\.json\n$/,
      code: 1,
    }),
    r('apply edit-last-applied', 'cm two s1 -o json', {
      environment: { EDITOR: 'head -1 "$1" | grep -q "^{" && sed -i \'s/"k": "x"/"k": "y"/\'' },
      stdout: /^{\n[\s\S]*\\"k\\":\\"y\\"/,
    }),
    r('apply', '-f - --prune -l no=such', {
      stdin: map('s1'),
      stderr: 'error: no objects passed to apply\n',
      code: 1,
    }),
    r('apply', '--sever-side -f x', {
      stderr: /^error: unknown flag --sever-side; did you mean --server-side\?/,
      code: 1,
    }),
  ],
}
