/**
 * Copies the facts about Kubernetes versions that tests compare the definitions with to `test/data/levels`, in a
 * compact form. Run it when the facts change:
 *
 *     bin/node scripts/import-levels.ts ../shared/levels
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const [source = ''] = process.argv.slice(2)
const target = join(import.meta.dirname, '../test/data/levels')
mkdirSync(target, { recursive: true })

for (const name of ['versions.tsv', 'kinds.tsv', 'gates.tsv']) copyFileSync(join(source, name), join(target, name))

/** Markers of upstream validation are of no use to tests of names and types. */
const withoutMarkers = (key: string, value: unknown) => (key === 'declared' ? undefined : value)
const fields = JSON.parse(readFileSync(join(source, 'fields.json'), 'utf8'))
writeFileSync(join(target, 'fields.json.gz'), gzipSync(JSON.stringify(fields, withoutMarkers), { level: 9 }))

const discovery = Object.fromEntries(
  readdirSync(join(source, 'discovery')).map((name) => [
    name,
    JSON.parse(readFileSync(join(source, 'discovery', name), 'utf8')),
  ]),
)
writeFileSync(join(target, 'discovery.json.gz'), gzipSync(JSON.stringify(discovery), { level: 9 }))
