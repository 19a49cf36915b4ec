/**
 * Tests that no output of a server contains a name from the other profile. The output includes help, discovery,
 * descriptions, objects of every kind with defaults, tables, errors, metrics, and the files that the server writes.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { groupName, type ProfileName, vendorOf } from '../../../src/api/model/vendor.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { root } from '../../support/server.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

/**
 * Names that belong to only one profile. Names of system namespaces and of old metrics are the same in both profiles.
 */
const wordsOf: { readonly [P in ProfileName]: RegExp } = {
  orch: /\borch\.io\b|\bx-orch-|vnd\.orch\.|\bio\.orch\.|ORCH_EXEC_INFO|\borch\.default\.svc|\bnodeagent\b/i,
  kubernetes:
    /kubernetes\.io|k8s\.io|x-kubernetes-|vnd\.kubernetes\.|io\.k8s\.|KUBERNETES_EXEC_INFO|kubernetes\.default\.svc/i,
}

const objects: readonly (readonly [plural: string, object: object])[] = [
  ['configmaps', { data: { a: 'b' } }],
  ['secrets', { stringData: { a: 'b' } }],
  ['pods', { spec: { containers: [{ name: 'c', image: 'i' }] } }],
  ['podtemplates', { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } }],
  ['replicationcontrollers', { spec: { selector: { a: 'b' } } }],
  ['events', { involvedObject: { namespace: 'default' } }],
]

async function everythingSaid(server: Restartable, profile: ProfileName): Promise<Map<string, string>> {
  const client = server.client('admin-token')
  const vendor = vendorOf(profile)
  const said = new Map<string, string>()
  const ask = async (path: string, headers?: { readonly [name: string]: string }) => {
    const { text, headers: answered } = await client.get(path, headers)
    said.set(`GET ${path} ${headers?.accept ?? ''}`, `${JSON.stringify(answered)}\n${text}`)
    return text
  }
  for (const path of [
    '/',
    '/api',
    '/apis',
    '/api/v1',
    '/version',
    '/openapi/v2',
    '/openapi/v3',
    '/metrics',
    '/readyz?verbose',
  ])
    await ask(path)
  for (const place of Object.keys(JSON.parse(await ask('/openapi/v3')).paths)) await ask(`/openapi/v3/${place}`)
  for (const kind of allKinds) {
    const group = groupName(vendor, kind.group)
    const path = `${group === '' ? '/api' : `/apis/${group}`}/${kind.version}/${kind.plural}`
    await ask(path)
    await ask(path, { accept: `application/json;as=Table;g=${groupName(vendor, 'meta')};v=v1` })
    await ask(`${path}?fieldSelector=no.such=x`)
    await ask(path, { accept: 'application/nothing' })
  }
  for (const [plural, object] of objects) {
    for (const body of [{ metadata: { name: 'x' }, ...object }, { metadata: { name: 'X!', labels: { '/': '!' } } }]) {
      const { text } = await client.post(`/api/v1/namespaces/default/${plural}`, body)
      said.set(`POST ${plural} ${JSON.stringify(body)}`, text)
    }
  }
  said.set('denied', (await server.client('bob-token').get('/api/v1/pods')).text)
  return said
}

describe('no names from the other profile appear', { concurrency: 1 }, () => {
  for (const [profile, other] of [
    ['orch', 'kubernetes'],
    ['kubernetes', 'orch'],
  ] as const) {
    test(`a server with the profile ${profile} uses no names from ${other}`, async () => {
      const server = await serve({ after }, [`--profile=${profile}`])
      const said = await everythingSaid(server, profile)
      said.set('admin.kubeconfig', readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8'))
      await server.stop()
      said.set('the log', server.output())
      for (const [what, text] of said) {
        const word = wordsOf[other].exec(text)
        assert.equal(
          word,
          null,
          `${what}: ${text.slice(Math.max(0, (word?.index ?? 0) - 80), (word?.index ?? 0) + 80)}`,
        )
      }
      const own = [...said.values()].filter((text) => wordsOf[profile].test(text))
      assert.ok(own.length > 10, 'the words looked for are none that a server says')
      console.log(`vendor words: ${said.size} answers of ${profile}, ${own.length} with words of its own`)
    })
  }

  test('the help text uses no Kubernetes name except that of the profile', () => {
    const { stdout } = spawnSync(join(root, 'bin/orch'), ['help', 'flags'], { encoding: 'utf8' })
    assert.doesNotMatch(stdout, wordsOf.kubernetes)
  })
})
