/** Tests that kubectl and orchctl discover a custom kind, including by its short name. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { serveUp } from '../support/in-process.ts'
import { kubectl } from '../support/kubectl.ts'
import { orchctl } from '../support/orchctl.ts'
import { withoutRootCa } from '../support/server.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])

async function run(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await kubectl(server, args, input)
  assert.equal(code, 0, stderr)
  return stdout
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: backups.storage.example.com }
spec:
  group: storage.example.com
  scope: Namespaced
  names: { plural: backups, kind: Backup, shortNames: [bk], categories: [all] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {}, scale: { specReplicasPath: .spec.copies, statusReplicasPath: .status.copies } }
    additionalPrinterColumns:
    - { name: Copies, type: integer, jsonPath: .spec.copies }
    schema:
      openAPIV3Schema:
        type: object
        description: A copy of something, kept elsewhere.
        required: [spec]
        properties:
          spec:
            type: object
            properties:
              copies: { type: integer, description: How many copies there shall be., minimum: 1, default: 2 }
              of: { type: string }
              free: { type: object, x-kubernetes-preserve-unknown-fields: true, properties: { known: { type: string } } }
              maybe: { type: object, nullable: true, properties: { when: { type: string, format: date-time } } }
              port: { x-kubernetes-int-or-string: true, anyOf: [{ type: integer }, { type: string }] }
          status: { type: object, properties: { copies: { type: integer } } }
`
const backup = `
apiVersion: storage.example.com/v1
kind: Backup
metadata: { name: nightly }
spec: { of: everything, free: { any: [1, { thing: goes }] }, maybe: null, port: http }
`

test('kubectl can define a custom kind, wait for it, use it, explain it, scale it and delete it', {
  timeout: 300_000,
}, async () => {
  assert.match(await run(['apply', '-f', '-'], definition), /created/)
  const wait = ['wait', '--for=condition=Established', '--timeout=100s', 'crd/backups.storage.example.com']
  assert.match(await run(wait), /condition met/)
  assert.match(await run(['apply', '-f', '-'], backup), /backup.storage.example.com\/nightly created/)
  assert.match(await run(['apply', '-f', '-'], backup), /unchanged/)
  assert.match(await run(['get', 'bk']), /^NAME +COPIES\nnightly +2\n$/)
  assert.match(await run(['get', 'all']), /backup.storage.example.com\/nightly/)
  const explained = await run(['explain', 'backups'])
  assert.match(explained, /A copy of something, kept elsewhere\./)
  // A Kubernetes conformance test looks for this text.
  assert.match(explained, /apiVersion\t<string>\s+APIVersion defines/)
  assert.match(await run(['explain', 'backups.spec.copies']), /How many copies there shall be\./)
  assert.match(await run(['scale', 'bk/nightly', '--replicas=5']), /scaled/)
  assert.match(await run(['get', 'bk', '-o', 'jsonpath={.items[*].spec.copies}']), /^5$/)
  assert.match(await run(['api-resources', '--api-group=storage.example.com']), /backups +bk +storage.example.com\/v1/)
  const refused = await kubectl(server, ['patch', 'bk', 'nightly', '--type=merge', '-p', '{"spec":{"copies":0}}'])
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /spec\.copies/)

  const kubeconfig = ['--kubeconfig', join(server.directory, 'admin.kubeconfig')]
  const listed = await orchctl([...kubeconfig, 'get', 'bk'])
  assert.equal(listed.code, 0, listed.stderr)
  assert.match(listed.stdout, /nightly +5/)

  assert.match(await run(['delete', 'crd', 'backups.storage.example.com']), /deleted/)
  const gone = await kubectl(server, ['get', 'backups'])
  // kubectl's discovery cache may be outdated.
  assert.match(gone.stderr, /NotFound|doesn't have a resource type "backups"/)
})
