/**
 * Tests object history through the API and orchctl: changes, earlier states and undo. Only users who may read the
 * object can read its history, which contains no values of Secrets. The suite runs on any store with a journal. With
 * two servers, one server is queried about the writes of the other. `storage/store/suite/journal.ts` tests the journal
 * itself.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpClient } from '../../support/http-client.ts'
import type { Restartable } from '../../support/in-process.ts'
import { long, longTest } from '../../support/long.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'

/**
 * Tests two servers on one store, or the same server twice. The first server receives the writes, and the second server
 * answers the queries.
 */
export function historySuite(server: Restartable, second: Restartable): void {
  const admin = server.client()
  const asked = second.client()
  const alice = second.client('alice-token')
  const env = { KUBECONFIG: configOf(second) }
  const run = async (line: string) => await orchctl(line.split(' '), { env })

  const maps = '/api/v1/namespaces/default/configmaps'
  const ops = '/apis/ops.orch.io/v1'

  async function patch(client: HttpClient, path: string, body: object) {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const answer = await client.send(path, { method: 'PATCH', headers, raw: JSON.stringify(body) })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  async function make(path: string, body: object) {
    const answer = await admin.post(path, body)
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }

  const historyOf = (client: HttpClient, spec: object) => client.post(`${ops}/objecthistories`, { spec })
  const stateOf = (client: HttpClient, spec: object) => client.post(`${ops}/paststates`, { spec })
  const mapSpec = (name: string, more: object = {}) => ({ resource: 'configmaps', namespace: 'default', name, ...more })

  test('the object history lists each change with user, manager, verb, time and fields', async () => {
    const made = await make(maps, { metadata: { name: 'a' }, data: { k: '1', same: 'x' } })
    const changed = await patch(admin, `${maps}/a?fieldManager=me`, { data: { k: '2', new: 'n' } })
    const { status, body } = await historyOf(asked, mapSpec('a'))
    assert.equal(status, 201)
    const [second, first] = body.status.revisions
    assert.equal(second.revision, changed.metadata.resourceVersion)
    assert.deepEqual([second.user, second.manager, second.verb], ['admin', 'me', 'patch'])
    assert.ok(Math.abs(Date.parse(second.time) - Date.now()) < 60_000)
    assert.deepEqual(
      second.changes.map(({ path, before, after: now }: { path: string; before?: string; after?: string }) => [
        path,
        before,
        now,
      ]),
      [
        ['.data.k', '1', '2'],
        ['.data.new', undefined, 'n'],
      ],
    )
    assert.deepEqual([first.revision, first.verb], [made.metadata.resourceVersion, 'create'])
    const before = await historyOf(asked, mapSpec('a', { before: second.revision, limit: 1 }))
    assert.deepEqual(
      before.body.status.revisions.map(({ revision }: { revision: string }) => revision),
      [first.revision],
    )
  })

  test('earlier states are returned by revision and by time, for one object and for lists with pages', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'past' } })
    const path = '/api/v1/namespaces/past/configmaps'
    for (const name of ['a', 'b', 'c']) await make(path, { metadata: { name }, data: { v: 'old' } })
    const then = (await admin.get(path)).body.metadata.resourceVersion
    await patch(admin, `${path}/a`, { data: { v: 'new' } })
    await admin.delete(`${path}/b`)
    const spec = { resource: 'configmaps', namespace: 'past', revision: then }
    const first = await stateOf(asked, { ...spec, limit: 2 })
    assert.equal(first.status, 201, first.text)
    const second = await stateOf(asked, { ...spec, limit: 2, continue: first.body.status.continue })
    const items = [...first.body.status.items, ...second.body.status.items]
    assert.deepEqual(
      items.map(({ metadata, data }) => [metadata.name, data.v]),
      [
        ['a', 'old'],
        ['b', 'old'],
        ['c', 'old'],
      ],
    )
    assert.equal(second.body.status.continue, undefined)
    const one = await stateOf(asked, { ...spec, name: 'b' })
    assert.equal(one.body.status.items[0].metadata.name, 'b')
    assert.equal((await stateOf(asked, { ...spec, name: 'never' })).status, 404)
    const now = await stateOf(asked, { resource: 'configmaps', namespace: 'past', time: new Date().toISOString() })
    assert.deepEqual(
      now.body.status.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['a', 'c'],
    )
    assert.equal((await stateOf(asked, { ...spec, revision: undefined, time: '2001-01-01T00:00:00Z' })).status, 410)
    for (const wrong of [
      { revision: 'x' },
      { time: 'x' },
      { revision: '', time: '' },
      { continue: 'objects/core/secrets/' },
    ])
      assert.equal((await stateOf(asked, { ...spec, ...wrong })).status, 400, JSON.stringify(wrong))
    assert.equal((await stateOf(asked, { ...spec, revision: '99999999' })).status, 504)
  })

  longTest('a history response ends at 8 MiB, and the next request continues there', async () => {
    const page = 8 * 2 ** 20
    const large = (letter: string) => ({ v: letter.repeat(900_000) })
    await make('/api/v1/namespaces', { metadata: { name: 'large' } })
    const path = '/api/v1/namespaces/large/configmaps'
    for (let i = 0; i < 12; i++) await make(path, { metadata: { name: `m${10 + i}` }, data: large('a') })
    for (let i = 0; i < 12; i++) await patch(admin, `${path}/m10`, { data: large('bc'[i % 2]!) })
    const seen: string[] = []
    for (let before = ''; ; ) {
      const spec = { resource: 'configmaps', namespace: 'large', name: 'm10', limit: 100, before }
      const { status } = (await historyOf(asked, spec)).body
      const bytes = status.revisions.length * 900_000
      assert.ok(bytes > 0 && bytes <= page + 900_000, `${status.revisions.length} changes`)
      seen.push(...status.revisions.map(({ revision }: { revision: string }) => revision))
      if (!status.more) break
      before = seen.at(-1)!
    }
    assert.deepEqual([seen.length, new Set(seen).size], [13, 13])
    const names: string[] = []
    const spec = { resource: 'configmaps', namespace: 'large', revision: seen[0] }
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { status }: { status: { items: { metadata: { name: string } }[]; continue?: string } } = (
        await stateOf(asked, { ...spec, continue: next })
      ).body
      // Each read returns fifty objects or fewer, depending on the store.
      assert.ok(status.items.length > 0)
      names.push(...status.items.map(({ metadata }) => metadata.name))
      next = status.continue
    }
    assert.deepEqual(
      names,
      Array.from({ length: 12 }, (_, i) => `m${10 + i}`),
    )
  })

  test('reading the history of an object requires permission to read the object', async () => {
    const roles = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
    await make(maps, { metadata: { name: 'mine' }, data: { k: '1' } })
    assert.equal((await historyOf(alice, mapSpec('mine'))).status, 403)
    assert.equal((await stateOf(alice, { resource: 'configmaps', namespace: 'default', revision: '5' })).status, 403)
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get'] }]
    await make(`${roles}/roles`, { metadata: { name: 'reader' }, rules })
    const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'reader' }
    const subjects = [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'alice' }]
    await make(`${roles}/rolebindings`, { metadata: { name: 'reader' }, roleRef, subjects })
    assert.equal((await historyOf(alice, mapSpec('mine'))).status, 201)
    assert.equal((await historyOf(alice, mapSpec('a'))).status, 403)
    // A role that names the object does not grant access to a deleted object with the same name.
    const old = (await admin.get(`${maps}/mine`)).body.metadata.resourceVersion
    await admin.delete(`${maps}/mine`)
    assert.equal((await historyOf(alice, mapSpec('mine'))).status, 403)
    assert.equal((await historyOf(asked, mapSpec('mine'))).body.status.revisions[0].deleted, true)
    await make(maps, { metadata: { name: 'mine' } })
    const { revisions } = (await historyOf(alice, mapSpec('mine'))).body.status
    assert.deepEqual(
      revisions.map(({ verb }: { verb: string }) => verb),
      ['create'],
    )
    assert.equal((await stateOf(alice, mapSpec('mine', { revision: old }))).status, 404)
    const earlier = await historyOf(alice, mapSpec('mine', { before: String(Number(old) + 1) }))
    assert.deepEqual(earlier.body.status.revisions, [])
    assert.equal((await stateOf(asked, mapSpec('mine', { revision: old }))).status, 201)
    assert.equal((await historyOf(asked, { resource: 'nothing', name: 'x' })).status, 404)
  })

  test('the history of a Secret lists changed keys but never values', async () => {
    const secrets = '/api/v1/namespaces/default/secrets'
    const annotations = { 'example.com/applied': 'hidden-1' }
    await make(secrets, {
      metadata: { name: 's', annotations },
      stringData: { 'pass.word': 'hidden-1', user: 'hidden-2' },
    })
    await patch(admin, `${secrets}/s`, { stringData: { 'pass.word': 'hidden-3' }, metadata: { labels: { a: 'b' } } })
    const { body, text } = await historyOf(asked, { resource: 'secrets', namespace: 'default', name: 's' })
    const [second] = body.status.revisions
    // The other changes affect only labels. The history hides the values of a Secret even while the store still
    // contains them.
    const steps = [{ member: 'data' }, { member: 'pass.word' }]
    assert.deepEqual(second.changes[0], { path: '.data["pass.word"]', steps, concealed: true })
    for (const { path } of second.changes.slice(1)) assert.equal(path, '.metadata.labels')
    for (const value of ['hidden-1', 'hidden-2', 'hidden-3']) {
      assert.ok(!text.includes(value))
      assert.ok(!text.includes(Buffer.from(value).toString('base64')))
    }
    const version = (await admin.get(`${secrets}/s`)).body.metadata.resourceVersion
    assert.equal(
      (await stateOf(asked, { resource: 'secrets', namespace: 'default', name: 's', revision: version })).status,
      403,
    )
    assert.match((await run('undo secret s')).stderr, /contains no Secret values/)
    const blame = (await run('blame secret s')).stdout
    assert.match(blame, new RegExp(`^${second.revision} .* \\.data\\["pass\\.word"\\]$`, 'm'))
  })

  test('undo reverts the fields of a change unless they have changed since', async () => {
    await make(maps, { metadata: { name: 'u' }, data: { k: '1', other: 'x' } })
    const bad = await patch(admin, `${maps}/u`, { data: { k: 'broken' } })
    await patch(admin, `${maps}/u`, { data: { other: 'y' } })
    const undone = await run(`undo cm/u --revision=${bad.metadata.resourceVersion}`)
    assert.equal(undone.code, 0, undone.stderr)
    assert.deepEqual((await admin.get(`${maps}/u`)).body.data, { k: '1', other: 'y' })
    const again = await run(`undo cm/u --revision=${bad.metadata.resourceVersion}`)
    assert.match(
      again.stderr,
      /conflict: fields were changed again after revision \d+, so nothing was undone: \.data\.k/,
    )
    assert.equal(again.code, 1)
    assert.match((await run('undo cm/u --revision=3')).stderr, /revision 3 is not a change to/)
    await admin.delete(`${maps}/u`)
    assert.match((await run('undo cm u')).stdout, /configmap\/u created again/)
    assert.deepEqual((await admin.get(`${maps}/u`)).body.data, { k: '1', other: 'y' })
  })

  test('concurrent undo requests take effect once and lose no other change', async () => {
    await make(maps, { metadata: { name: 'busy' }, data: { k: 'good', n: '0' } })
    const bad = await patch(admin, `${maps}/busy`, { data: { k: 'bad' } })
    const writes = 40
    const writing = (async () => {
      for (let i = 1; i <= writes; i++) await patch(admin, `${maps}/busy`, { data: { n: String(i) } })
    })()
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => run(`undo cm/busy --revision=${bad.metadata.resourceVersion}`)),
    )
    await writing
    assert.equal(tries.filter(({ code }) => code === 0).length, 1)
    for (const { code, stderr } of tries)
      if (code !== 0)
        assert.match(stderr, /conflict: fields were changed again after revision \d+, so nothing was undone: \.data\.k/)
    assert.deepEqual((await admin.get(`${maps}/busy`)).body.data, { k: 'good', n: String(writes) })
  })

  test('blame and undo of a Deployment handle list elements and ignore the status', async () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const containers = [{ name: 'web', image: 'web:1' }]
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers } }
    const spec = { selector: { matchLabels: { app: 'web' } }, template }
    await make(deployments, { metadata: { name: 'web', annotations: { turn: '0' } }, spec })
    const changed = await run('set image deploy/web web=web:2')
    assert.equal(changed.code, 0, changed.stderr)
    const { resourceVersion } = (await admin.get(`${deployments}/web`)).body.metadata
    // The Deployment controller writes a revision annotation together with the status.
    const reports = long ? 110 : 3
    for (let i = 1; i <= reports; i++)
      await patch(admin, `${deployments}/web/status`, {
        metadata: { annotations: { turn: `${i}` } },
        status: { replicas: i },
      })
    const blame = (await run('blame deploy web')).stdout
    const row = /^(\d+) .* \.spec\.template\.spec\.containers\[name=web\]\.image$/m.exec(blame)
    assert.equal(row?.[1], resourceVersion, blame)
    assert.match(blame, /^\d+ .* \.spec\.template\.spec\.containers\[name=web\]\.name$/m)
    assert.match((await run('undo deploy web')).stdout, new RegExp(`undone \\(revision ${resourceVersion}\\)`))
    const { body } = await admin.get(`${deployments}/web`)
    assert.equal(body.spec.template.spec.containers[0].image, 'web:1')
    assert.equal(body.metadata.annotations.turn, `${reports}`)
  })

  test('undo rejects creations and changes to an earlier object with the same name', async () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const raw = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { k: '1' } })
    await admin.send(`${maps}/applied?fieldManager=me`, { method: 'PATCH', headers, raw })
    assert.match(
      (await run('undo cm/applied')).stderr,
      /revision \d+ created the object: to undo the creation, use orchctl delete/,
    )
    const changed = await patch(admin, `${maps}/applied`, { data: { k: '2' } })
    await admin.delete(`${maps}/applied`)
    await make(maps, { metadata: { name: 'applied' }, data: { k: '2' } })
    const undone = await run(`undo cm/applied --revision=${changed.metadata.resourceVersion}`)
    assert.match(undone.stderr, /conflict: the object was recreated after/)
  })

  test('orchctl history, blame, diff and get show earlier states', async () => {
    const made = await make(maps, { metadata: { name: 'c' }, data: { k: '1', list: 'x' } })
    await patch(admin, `${maps}/c?fieldManager=second`, { data: { k: '2' } })
    const at = made.metadata.resourceVersion
    const history = (await run('history cm/c')).stdout.split('\n')
    assert.match(history[0]!, /^REVISION +TIME +USER +MANAGER +VERB +CHANGED$/)
    assert.match(history[1]!, /^\d+ +\S+Z +admin +second +patch +\.data\.k$/)
    assert.match(history[2]!, / create +created$/)
    assert.match((await run('history cm c --values')).stdout, /\n? {2}\.data\.k: "1" -> "2"\n/)
    const blame = (await run('blame cm c')).stdout
    assert.match(blame, /^\d+ +\S+ +admin +second +\.data\.k$/m)
    assert.match(blame, /^\d+ +\S+ +admin +\S+ +\.data\.list$/m)
    assert.match((await run(`diff cm/c --at=${at}`)).stdout, /- {2}k: "1"\n\+ {2}k: "2"/)
    assert.equal((await run(`get cm c --at=${at} -o jsonpath={.data.k}`)).stdout, '1')
    assert.match((await run(`get cm --at=${at}`)).stdout, /^NAME +REVISION\n(.*\n)*c +\d+\n/)
    assert.match((await run('get cm --at=soon')).stderr, /not a resourceVersion/)
    assert.match((await run(`get cm --at=${at} -w`)).stderr, /--at cannot be combined with -w/)
    assert.match((await run('history cm/never')).stderr, /No history found for configmaps "never"/)
  })
}
