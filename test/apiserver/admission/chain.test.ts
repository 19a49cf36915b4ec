/**
 * Tests the admission chain: which plugins run for which requests and in which order, and how flags and files enable
 * them.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import {
  type AdmissionOperation,
  type AdmissionRequest,
  type Control,
  chain,
} from '../../../src/apiserver/admission/admission.ts'
import { AdmissionExplanation } from '../../../src/apiserver/admission/explanation.ts'
import { refusal } from '../../../src/apiserver/admission/refusal.ts'
import { WriteConditions } from '../../../src/apiserver/registry/writes/write-conditions.ts'
import { readAdmissionConfiguration } from '../../../src/server/admission/admission-configuration.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const vendor = vendorOf('orch')
const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' }

function request(operation: AdmissionOperation, subresource = '', type = pods): AdmissionRequest {
  const object: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }
  return {
    operation,
    vendor,
    type,
    requested: type,
    subresource,
    namespace: 'n',
    name: 'p',
    user: { name: 'u', uid: '', groups: [], extra: new Map() },
    dryRun: false,
    options: () => ({}),
    forms: undefined as never,
    warn: () => {},
    object,
    oldObject: undefined,
  }
}

/** Creates an admission plugin that records its calls. */
function noting(name: string, handles: Control['handles'], asked: string[]): Control {
  const note = (phase: string) => {
    asked.push(`${name} ${phase}`)
  }
  return {
    name,
    handles,
    mutate: ({ object }) => {
      note('mutates')
      return (
        object && { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [name]: 'x' } } }
      )
    },
    validate: () => note('judges'),
  }
}

test('admission plugins run only for requests that they handle, in list order, mutating before validating', async () => {
  const asked: string[] = []
  const everything = noting('a', { operations: ['CREATE', 'UPDATE'] }, asked)
  const onlyPods = noting(
    'b',
    { operations: ['CREATE'], types: [{ group: 'core', plural: 'pods' }], subresources: [''] },
    asked,
  )
  const admission = chain([everything, onlyPods], vendor)
  const run = async (wanted: AdmissionRequest) => {
    asked.length = 0
    const object = await admission.mutate(wanted)
    await admission.validate({ ...wanted, object })
    return [[...asked], object?.metadata.labels]
  }
  const both = ['a mutates', 'b mutates', 'a judges', 'b judges']
  assert.deepEqual(await run(request('CREATE')), [both, { a: 'x', b: 'x' }])
  assert.deepEqual(await run(request('CREATE', 'status')), [['a mutates', 'a judges'], { a: 'x' }])
  assert.deepEqual(await run(request('UPDATE')), [['a mutates', 'a judges'], { a: 'x' }])
  assert.deepEqual(await run(request('DELETE')), [[], undefined])
})

test('a plugin that returns undefined does not change the object, and the first rejection stops the chain', async () => {
  const silent: Control = { name: 's', handles: { operations: ['CREATE'] }, mutate: () => undefined }
  const wanted = request('CREATE')
  assert.equal(await chain([silent], vendor).mutate(wanted), wanted.object)
  const refusing: Control = { ...silent, mutate: () => Promise.reject(new Error('no')) }
  const never: Control = { ...silent, mutate: () => assert.fail('asked after a refusal') }
  await assert.rejects(chain([refusing, never], vendor).mutate(wanted), /no/)
})

test('the admission plugins run a second time only if a webhook changed the object', async () => {
  const asked: string[] = []
  const note = (name: string) => noting(name, { operations: ['CREATE'] }, asked)
  const outside = (mutate: Control['mutate']): Control => ({ ...note('hook'), asksOthers: true, mutate: mutate! })
  const seen = async (hook: Control) => {
    asked.length = 0
    await chain([note('a'), hook, note('z')], vendor).mutate(request('CREATE'))
    return asked.filter((entry) => entry.startsWith('a') || entry.startsWith('hook'))
  }
  assert.deepEqual(await seen(outside(() => undefined)), ['a mutates'])
  assert.deepEqual(await seen(outside(({ object }) => object)), ['a mutates'])
  const changing = outside(({ object, again }) => {
    asked.push(`hook ${again ? 'again' : 'first'}`)
    return { ...object! }
  })
  assert.deepEqual(await seen(changing), ['a mutates', 'hook first', 'a mutates', 'hook again'])
})

test('the admission explanation describes only the last of several attempts', async () => {
  let refuses = true
  const moody: Control = {
    ...noting('moody', { operations: ['CREATE'] }, []),
    validate: async (wanted) => {
      if (refuses) throw refusal(wanted, 'not now')
    },
  }
  const admission = chain([moody], vendor)
  const explanation = new AdmissionExplanation()
  const wanted = { ...request('CREATE'), explanation }
  await admission.mutate(wanted)
  await assert.rejects(admission.validate(wanted), { code: 403 })
  const changes = '[{"control":"moody","fields":["metadata.labels"]}]'
  assert.deepEqual([explanation.refusedBy, explanation.changes], ['moody', changes])
  refuses = false
  await admission.mutate(wanted)
  await admission.validate(wanted)
  assert.deepEqual([explanation.refusedBy, explanation.changes], [undefined, changes])
})

test('an admission rejection names the plugin that rejected the request', async () => {
  const refusing = (name: string, message: string): Control => ({
    name,
    handles: { operations: ['CREATE'] },
    mutate: (wanted) => {
      throw refusal(wanted, message)
    },
  })
  const told = (control: Control) => chain([control], vendor).mutate(request('CREATE'))
  await assert.rejects(told(refusing('Some', 'no')), {
    code: 403,
    message: 'pods "p" is forbidden: no (rejected by the admission plugin Some)',
  })
  await assert.rejects(told(refusing('Some', 'it violates Some')), {
    message: 'pods "p" is forbidden: it violates Some',
  })
})

test('admission plugins get an immutable copy of the stored object', () => {
  const stored: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'x' } } }
  const terms = new WriteConditions()
  const shown = terms.show(stored)!
  assert.deepEqual(shown, stored)
  assert.equal(terms.show(stored), shown)
  assert.throws(() => {
    shown.metadata.labels!.a = 'y'
  }, TypeError)
  stored.metadata.labels!.a = 'z'
  assert.equal(shown.metadata.labels!.a, 'x')
})

describe('flags that enable and disable admission plugins', () => {
  test('an enabled admission plugin runs for all writes, including writes that other plugins cause', async () => {
    const server = await serve({ after }, ['--enable-admission-plugins=AlwaysDeny,NamespaceAutoProvision'])
    const client = server.client('admin-token')
    const path = '/api/v1/namespaces/default/configmaps'
    const refused = await client.post(path, { metadata: { name: 'a' } })
    assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden'])
    assert.equal((await client.delete('/api/v1/namespaces/kube-node-lease')).status, 403)
    const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: {} }
    assert.equal((await client.send('/api/v1/namespaces/default', patch)).status, 403)
    const review = { spec: { token: 'bob-token' } }
    assert.equal((await client.post('/apis/authentication.orch.io/v1/tokenreviews', review)).status, 403)
    assert.equal((await client.get(path)).body.items.length, 0)
    const unwanted = '/api/v1/namespaces/unwanted'
    const provided = await client.post(`${unwanted}/configmaps`, { metadata: { name: 'a' } })
    const why = /^configmaps "a" is forbidden: namespaces "unwanted" is forbidden: .*AlwaysDeny/
    assert.match(`${provided.body.message}`, why)
    assert.deepEqual([provided.status, (await client.get(unwanted)).status], [403, 404])
  })

  test('a disabled admission plugin does not run, and plugins that have no effect may be enabled', async () => {
    const server = await serve({ after }, [
      '--disable-admission-plugins=NamespaceLifecycle',
      '--enable-admission-plugins=AlwaysAdmit',
    ])
    const created = await server
      .client('admin-token')
      .post('/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } })
    assert.equal(created.status, 201)
  })

  const file = (text: string) => (directory: string) => {
    writeFileSync(join(directory, 'admission.yaml'), text)
    return [`--admission-control-config-file=${join(directory, 'admission.yaml')}`]
  }
  const head = 'apiVersion: apiserver.config.orch.io/v1\nkind: AdmissionConfiguration\n'
  for (const [what, flags, told] of [
    ['an unknown control', ['--enable-admission-plugins=NamespaceLifecycl'], /did you mean NamespaceLifecycle\?/],
    [
      'a plugin that the version no longer has',
      ['--emulated-version=1.25', '--disable-admission-plugins=PodSecurityPolicy'],
      /--disable-admission-plugins: plugin "PodSecurityPolicy" is unknown \(removed in 1\.25; this server emulates 1\.25\)/,
    ],
    [
      'a plugin of a later version',
      ['--enable-admission-plugins=ValidatingAdmissionPolicy'],
      /--enable-admission-plugins: plugin "ValidatingAdmissionPolicy" is unknown \(exists since 1\.26/,
    ],
    [
      'a plugin that is not built',
      ['--emulated-version=1.36', '--enable-admission-plugins=PodGroupProtection'],
      /--enable-admission-plugins: plugin "PodGroupProtection" is not built into this server/,
    ],
    [
      'a plugin that is both enabled and disabled',
      ['--enable-admission-plugins=AlwaysDeny', '--disable-admission-plugins=AlwaysDeny'],
      /choose one/,
    ],
    ['a file with an unknown plugin', file(`${head}plugins: [{name: Nothing}]\n`), /plugin "Nothing" is unknown/],
    [
      'a configuration for a plugin without configuration',
      file(`${head}plugins: [{name: NamespaceLifecycle}]\n`),
      /admission\.yaml: NamespaceLifecycle accepts no configuration/,
    ],
  ] as const)
    test(`the server does not start with ${what}`, async () => {
      const { code, errors } = await startFailing({ after }, flags)
      assert.equal(code, 1)
      assert.match(errors, told)
      assert.doesNotMatch(errors, /\n {4}at /)
    })

  test('the error for an invalid admission configuration file contains the file name and the position', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const path = join(directory, 'admission.yaml')
    const two = '[{name: AlwaysDeny}, {name: AlwaysDeny}]'
    for (const [text, told] of [
      ['kind: Pod\n', /AdmissionConfiguration in apiserver\.config\.orch\.io\/v1/],
      [`${head}plugin: []\n`, /unknown field "plugin"/],
      [`${head}plugins: ${two}\n`, /configured more than once/],
      [
        `${head}plugins: [{name: AlwaysDeny, path: a, configuration: {}}]\n`,
        /plugins\[0\]: path and configuration are mutually/,
      ],
      ['{', /./],
    ] as const) {
      writeFileSync(path, text)
      const error = await readAdmissionConfiguration(path, vendor).then(() => assert.fail(text), String)
      assert.match(error, told)
      assert.ok(error.startsWith('UsageError: ') && error.includes(`${path}: `), error)
    }
    await assert.rejects(readAdmissionConfiguration('/nowhere', vendor), /cannot read \/nowhere/)
  })
})
