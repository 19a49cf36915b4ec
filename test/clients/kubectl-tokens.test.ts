/**
 * Tests kubectl with a service account token and with a bootstrap token: which user is authenticated, and which
 * permissions this user has.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../support/in-process.ts'
import { kubectlFor } from '../support/kubectl-shell.ts'

test('kubectl authenticates with service account and bootstrap tokens', async (t) => {
  const server = await serve(t, ['--profile=kubernetes', '--enable-bootstrap-token-auth'])
  const kubectl = kubectlFor(server)
  const as = async (token: string, command: string) =>
    await kubectl.run(`kubectl --kubeconfig=bob.kubeconfig --token=${token} ${command}`)
  for (const command of [
    'create serviceaccount robot',
    'create role reader --verb=list --resource=configmaps',
    'create rolebinding reader --role=reader --serviceaccount=default:robot',
    'create secret generic bootstrap-token-abcdef -n kube-system --type=bootstrap.kubernetes.io/token' +
      ' --from-literal=token-id=abcdef --from-literal=token-secret=0123456789abcdef' +
      ' --from-literal=usage-bootstrap-authentication=true',
  ]) {
    const { code, errors } = await kubectl.run(`kubectl ${command}`)
    assert.equal(code, 0, errors)
  }
  const asked = await server.client().post('/api/v1/namespaces/default/serviceaccounts/robot/token', {})
  const { token } = asked.body.status

  assert.equal((await as(token, 'get configmaps')).code, 0)
  assert.match((await as(token, 'get secrets')).errors, /User "system:serviceaccount:default:robot" cannot list/)
  const ofBootstrap = await as('abcdef.0123456789abcdef', 'get configmaps')
  assert.match(ofBootstrap.errors, /User "system:bootstrap:abcdef" cannot list/)

  for (const object of ['serviceaccount robot', 'secret bootstrap-token-abcdef -n kube-system'])
    assert.equal((await kubectl.run(`kubectl delete ${object}`)).code, 0)
  for (const gone of [token, 'abcdef.0123456789abcdef'])
    assert.match((await as(gone, 'get configmaps')).errors, /You must be logged in to the server|Unauthorized/)
})
