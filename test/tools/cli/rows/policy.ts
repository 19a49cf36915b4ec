/** Test rows for `orchctl policy test`, which needs no server. */
import { type Part, r } from './row.ts'

const policy = `apiVersion: admissionregistration.orch.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: max-replicas}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
      - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  variables:
    - {name: max, expression: int(params.data.max)}
  validations:
    - expression: object.spec.replicas <= variables.max || authorizer.group('apps').resource('deployments').check('scale-up').allowed()
      messageExpression: "'at most ' + string(variables.max) + ' replicas'"
---
apiVersion: admissionregistration.orch.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: production}
spec:
  policyName: max-replicas
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {stage: production}}}
  paramRef: {name: limits, namespace: default, parameterNotFoundAction: Deny}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {max: "5"}
`

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 9
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

const cases = `apiVersion: config.orch.io/v1
kind: PolicyTest
cases:
  - name: too many replicas in production
    file: objects/web.yaml
    namespaceLabels: {stage: production}
    expect: deny
    message: at most 5 replicas
  - name: any number elsewhere
    file: objects/web.yaml
    expect: allow
    warnings: []
  - name: administrators may scale up
    file: objects/web.yaml
    namespaceLabels: {stage: production}
    user: {username: ada, groups: [admins]}
    allowedChecks: [{verb: scale-up, group: apps, resource: deployments}]
    expect: allow
  - name: deletions are not checked
    operation: DELETE
    oldFile: objects/web.yaml
    namespaceLabels: {stage: production}
    expect: allow
`

/** The policy matches a version other than the objects' version, and uses a default value. */
const custom = `apiVersion: apiextensions.orch.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, kind: Widget, singular: widget}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, default: {}, properties: {size: {type: integer, default: 7}}}}}}}
    - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}
---
apiVersion: admissionregistration.orch.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  matchConstraints:
    resourceRules:
      - {apiGroups: [example.com], apiVersions: [v1beta1], operations: [CREATE], resources: [widgets]}
  validations: [{expression: object.spec.size < 5 && object.apiVersion == 'example.com/v1beta1'}]
---
apiVersion: admissionregistration.orch.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sizes}
spec: {policyName: sizes, validationActions: [Deny]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: large}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: small}
spec: {size: 2}
`

/** The second mutation reads the result of the first. The validating policy sees the changed object. */
const mutating = `apiVersion: admissionregistration.orch.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: teams}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
      - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  mutations:
    - patchType: ApplyConfiguration
      applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'team': 'blue'}}}"}
    - patchType: JSONPatch
      jsonPatch: {expression: "[JSONPatch{op: 'replace', path: '/spec/replicas', value: size(object.metadata.labels)}]"}
---
apiVersion: admissionregistration.orch.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: teams}
spec: {policyName: teams}
---
apiVersion: config.orch.io/v1
kind: PolicyTest
cases:
  - name: a team and one replica
    file: objects/web.yaml
    namespaceLabels: {stage: production}
    expect: allow
    result: {metadata: {labels: {team: blue}, annotations: null}, spec: {replicas: 1}}
  - name: another team
    file: objects/web.yaml
    expect: allow
    result: {metadata: {labels: {team: red}}}
`

const production = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {stage: production}}\n'

const files = {
  'policy.yaml': policy,
  'k8s.yaml': policy.replaceAll('orch.io', 'k8s.io'),
  'objects/web.yaml': web,
  'namespace.yaml': production,
  'test.yaml': cases,
  'wrong-test.yaml': cases.replace('at most 5', 'at most 6').replace('warnings: []', 'warnings: [other]'),
  'misspelled-test.yaml': cases.replace('expect:', 'expct:'),
  'impossible-test.yaml': cases.replace('operation: DELETE', 'operation: UPDATE'),
  'warn.yaml': policy.replace('[Deny]', '[Warn]'),
  'broken.yaml': policy.replace('int(', 'itn('),
  'unbound.yaml': policy.split('---')[0]!,
  'custom.yaml': custom,
  'mutating.yaml': mutating,
  'mutating-policy.yaml': mutating.split('---').slice(0, 2).join('---'),
  'unneeded-result.yaml': cases.replace('warnings: []', 'result: {kind: Pod}').replace('expect: allow', 'expect: deny'),
}

const denied =
  "denied: deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'max-replicas' with binding 'production' denied request: at most 5 replicas"

export const policies: Part = {
  name: 'policies',
  given: '',
  rows: [
    r('policy test', '-f policy.yaml -f test.yaml', {
      files,
      stdout:
        'ok: too many replicas in production\nok: any number elsewhere\nok: administrators may scale up\nok: deletions are not checked\n4 evaluated: 0 failed\n',
    }),
    r('policy test', '-f policy.yaml -f wrong-test.yaml', {
      stdout: `FAILED: too many replicas in production: expected a message with "at most 6 replicas", but the request is ${denied}
FAILED: any number elsewhere: expected the warnings ["other"], but got []
ok: administrators may scale up
ok: deletions are not checked
4 evaluated: 2 failed
`,
      code: 1,
    }),
    r('policy test', '-f k8s.yaml -f namespace.yaml -f objects', {
      stdout: `ConfigMap limits (k8s.yaml, document 3): allowed
Namespace default (namespace.yaml): allowed
Deployment web (objects/web.yaml): ${denied}
3 evaluated: 1 denied
`,
      code: 1,
    }),
    r('policy test', '-f policy.yaml -f objects', { stdout: /web.yaml\): allowed\n2 evaluated: 0 denied\n$/ }),
    r('policy test', '-f warn.yaml -f namespace.yaml -f objects', {
      stdout:
        /web.yaml\): allowed\n {2}warning: Validation failed for .*: at most 5 replicas\n3 evaluated: 0 denied\n$/,
    }),
    r('policy test', '-f custom.yaml', {
      stdout: /Widget large .*: denied: .*\nWidget small .*: allowed\n3 evaluated: 1 denied\n$/,
      code: 1,
    }),
    r('policy test', '-f policy.yaml -f mutating.yaml', {
      stdout:
        'ok: a team and one replica\nFAILED: another team: expected another value of metadata.labels.team: it is "blue"\n2 evaluated: 1 failed\n',
      code: 1,
    }),
    r('policy test', '-f mutating-policy.yaml -f objects', {
      stdout:
        'Deployment web (objects/web.yaml): allowed, changes metadata.labels, spec.replicas\n1 evaluated: 0 denied\n',
    }),
    r('policy test', '-f policy.yaml -f unneeded-result.yaml', {
      stderr: /cases\[1\]\.result: Invalid value: .*only an allowed CREATE or UPDATE has a result/,
      code: 1,
    }),
    r('policy test', '-f policy.yaml -f misspelled-test.yaml', {
      stderr: 'error: misspelled-test.yaml: unknown field "cases[0].expct"\n',
      code: 1,
    }),
    r('policy test', '-f policy.yaml -f impossible-test.yaml', {
      stderr: /cases\[3\]\.object: Required value: UPDATE needs object or file\n/,
      code: 1,
    }),
    r('policy test', '-f broken.yaml -f test.yaml', {
      stderr: /^error: broken.yaml, document 1: spec.variables\[0\].expression: .*undeclared reference to 'itn'/,
      code: 1,
    }),
    r('policy test', '-f unbound.yaml -f objects', {
      stderr: 'error: the files contain no binding for the ValidatingAdmissionPolicy max-replicas\n',
      code: 1,
    }),
    r('policy test', '-f objects', {
      stderr: 'error: the files contain no ValidatingAdmissionPolicy or MutatingAdmissionPolicy\n',
      code: 1,
    }),
  ],
}
