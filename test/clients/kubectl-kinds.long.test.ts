/**
 * Tests that kubectl applies, gets, describes and deletes a real manifest of every kind, and explains all fields of a
 * kind. kubectl explain reads a single document, and `apiserver/http/openapi.test.ts` compares the fields in that
 * document kind by kind. This test therefore explains only one kind of each group and version, or every kind if
 * ORCH_LONG is 1.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { groupName, vendorOf } from '../../src/api/model/vendor.ts'
import type { Kind } from '../../src/api/schema/kind.ts'
import { fieldsOf } from '../api/kinds/fields-of.ts'
import { serveUp } from '../support/in-process.ts'
import { kubectl } from '../support/kubectl.ts'
import { long } from '../support/long.ts'
import { manifest, manifestObject, manifestOf } from '../support/manifests.ts'
import { withoutRootCa } from '../support/server.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const vendor = vendorOf('kubernetes')
const storedKinds = allKinds.filter(({ lifecycle: life }) => !life.virtual)
const ids = [...new Set(storedKinds.map(manifestOf))]

const explained = storedKinds.filter(({ group, version }, i) => {
  const first = storedKinds.findIndex((other) => other.group === group && other.version === version)
  return long || i === first
})

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])
const directory = join(server.directory, 'manifests')
mkdirSync(directory)
for (const id of ids) writeFileSync(join(directory, `${id}.yaml`), manifest(id, 'kubernetes'))

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(server, args)
  assert.equal(code, 0, stderr)
  return stdout
}

/** Returns `deployments.v1.apps`, or `pods` for a kind in the core group. */
const typeOf = ({ group, version, plural }: Kind) =>
  group === 'core' ? plural : `${plural}.${version}.${groupName(vendor, group)}`

describe('kubectl explain describes every field', { concurrency: 3 }, () => {
  for (const kind of explained)
    test(typeOf(kind), async () => {
      const apiVersion = kind.group === 'core' ? kind.version : `${groupName(vendor, kind.group)}/${kind.version}`
      const text = await run('explain', '--recursive', kind.plural, `--api-version=${apiVersion}`)
      assert.match(text, new RegExp(`^KIND: +${kind.kind}$`, 'm'))
      const knownNames = new Set(Array.from(text.matchAll(/^ +(\S+)\t</gm), ([, name]) => name))
      const fieldNames = [...fieldsOf(kind.schema)].map((field) => field.slice(field.lastIndexOf('.') + 1))
      assert.deepEqual(
        fieldNames.filter((name) => !knownNames.has(name)),
        [],
      )
    })
})

test('kubectl applies, gets, describes and deletes an object of every kind', { timeout: 300_000 }, async () => {
  const applied = await run('apply', '-f', directory)
  assert.equal(applied.match(/ created$/gm)?.length, ids.length, applied)
  const again = await run('apply', '-f', directory)
  assert.equal(again.match(/ unchanged$/gm)?.length, ids.length, again)
  const described = await run('describe', '-f', directory)
  const shown = await run('get', '-o', 'wide', '-f', directory)
  for (const id of ids) {
    const { name } = manifestObject(id, 'kubernetes').metadata
    assert.match(described, new RegExp(`^Name: +${name}$`, 'm'), id)
    assert.ok(shown.includes(name!), id)
  }
  const deleted = await run('delete', '--wait', '-f', directory)
  assert.equal(deleted.match(/ deleted$/gm)?.length, ids.length, deleted)
})
