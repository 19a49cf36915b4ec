/** Tests the table in docs/reference/versions.md. With ORCH_WRITE_DOCS=1, the test updates the table. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { allKinds } from '../../src/api/kinds/all.ts'
import { apiVersionOf, vendorOf } from '../../src/api/model/vendor.ts'
import { exists } from '../../src/api/versions/availability.ts'
import { emulatedVersions } from '../../src/api/versions/emulated-version.ts'

const page = join(import.meta.dirname, '../../docs/reference/versions.md')
const mark = '<!-- table -->\n'

/** Returns a table of the API versions that some Kubernetes versions do not serve by default. */
function writeTable(): string {
  const vendor = vendorOf('kubernetes')
  const rows = allKinds
    .map(({ group, version, kind, ...availability }) => {
      const states = emulatedVersions.map((each) => {
        if (!exists(availability, each)) return ''
        return availability.optIn ? 'off' : 'on'
      })
      return { name: `\`${apiVersionOf(vendor, group, version)}\` ${kind}`, states }
    })
    .filter(({ states }) => states.some((state) => state !== 'on'))
    .map(({ name, states }) => `| ${name} | ${states.join(' | ')} |`)
    .sort()
  const head = `| API version and kind | ${emulatedVersions.join(' | ')} |`
  return `\n${head}\n| --- |${' --- |'.repeat(emulatedVersions.length)}\n${rows.join('\n')}\n`
}

test('docs/reference/versions.md has the current table of API versions', () => {
  const text = readFileSync(page, 'utf8')
  const expected = text.slice(0, text.indexOf(mark) + mark.length) + writeTable()
  if (process.env.ORCH_WRITE_DOCS) writeFileSync(page, expected)
  assert.equal(readFileSync(page, 'utf8'), expected, 'run ORCH_WRITE_DOCS=1 npm test -- versions-page')
})
