/** Tests the kubectl commands for permissions: can-i, the list of rules, reconcile, and impersonation. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../support/in-process.ts'
import { kubectlFor } from '../support/kubectl-shell.ts'

const server = await serve({ after }, ['--profile=kubernetes'])
const kubectl = kubectlFor(server, 'access')

/** Runs kubectl and returns its output and exit code. */
async function run(command: string, input = '') {
  const { output, errors, code } = await kubectl.run(command, input)
  return { output, errors, code }
}

const roles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules:
- {apiGroups: [""], resources: [configmaps, pods/log], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
`

test('kubectl auth reconcile creates and repairs roles and bindings', async () => {
  const made = await run('kubectl auth reconcile -f -', roles)
  assert.equal(made.code, 0, made.errors)
  assert.match(made.output, /role\.rbac\.authorization\.k8s\.io\/reader reconciled/)
  const more = roles.replace('verbs: [get, list]', 'verbs: [get, list, watch]')
  assert.equal((await run('kubectl auth reconcile -f -', more)).code, 0)
  const { output } = await run('kubectl get role reader -o jsonpath={.rules[*].verbs}')
  assert.match(output, /watch/)
})

test('kubectl auth can-i works for the current user and for other users', async () => {
  const rows: readonly (readonly [question: string, answer: 'yes' | 'no'])[] = [
    ['delete nodes', 'yes'],
    ['list configmaps --as=jane', 'yes'],
    ['get pods --subresource=log --as=jane', 'yes'],
    ['delete configmaps --as=jane', 'no'],
    ['list configmaps -n kube-system --as=jane', 'no'],
    ['list configmaps --as=joe --as-group=readers', 'yes'],
    ['list configmaps --as=joe', 'no'],
    ['get /version --as=joe', 'yes'],
    ['get /metrics --as=joe', 'no'],
  ]
  for (const [question, answer] of rows) {
    const { output, code } = await run(`kubectl auth can-i ${question}`)
    assert.ok(output.trim().startsWith(answer), `${question}: ${output}`)
    assert.equal(code, answer === 'yes' ? 0 : 1, question)
  }
})

test('kubectl auth can-i --list prints the rules for a user', async () => {
  const { output, code } = await run('kubectl auth can-i --list --as=jane')
  assert.equal(code, 0)
  assert.match(output, /configmaps +\[\] +\[\] +\[get list watch\]/)
  assert.match(output, /selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]/)
  assert.match(output, /\[\/version\]/)
})

test("kubectl --as impersonates another user and uses that user's permissions", async () => {
  assert.equal((await run('kubectl get cm --as=jane')).code, 0)
  const { errors, code } = await run('kubectl delete cm x --as=jane')
  assert.equal(code, 1)
  assert.match(errors, /User "jane" cannot delete resource "configmaps" in API group "" in the namespace "default"/)
  const refused = await run('kubectl --kubeconfig=bob.kubeconfig get cm --as=jane')
  assert.match(refused.errors, /User "bob" cannot impersonate resource "users" in API group "" at the cluster scope/)
})
