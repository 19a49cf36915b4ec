/**
 * Copies recorded facts about Kubernetes versions to `test/data/levels` in a compact format. Tests compare the kind
 * definitions with these facts. Run the script when the facts change:
 *
 *     bin/node scripts/import-levels.ts ../shared/levels
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const [source = ''] = process.argv.slice(2)
const target = join(import.meta.dirname, '../test/data/levels')
mkdirSync(target, { recursive: true })

for (const name of ['versions.tsv', 'kinds.tsv', 'gates.tsv', 'admission-plugins.tsv'])
  copyFileSync(join(source, name), join(target, name))

/** Tests of names and types do not need the upstream validation markers. */
const withoutMarkers = (key: string, value: unknown) => (key === 'declared' ? undefined : value)
const fields = JSON.parse(readFileSync(join(source, 'fields.json'), 'utf8'))
writeFileSync(join(target, 'fields.json.gz'), gzipSync(JSON.stringify(fields, withoutMarkers), { level: 9 }))

const documentsIn = (name: string) =>
  Object.fromEntries(
    readdirSync(join(source, name)).map((file) => [file, JSON.parse(readFileSync(join(source, name, file), 'utf8'))]),
  )
for (const name of ['discovery', 'flow'])
  writeFileSync(join(target, `${name}.json.gz`), gzipSync(JSON.stringify(documentsIn(name)), { level: 9 }))

/**
 * Each row contains a flag: its name, its type, and for each recorded version its default, or `-` if the version does
 * not have the flag.
 */
const flagVersions = readdirSync(join(source, 'flags'))
const rows = new Map<string, string[]>()
for (const [i, file] of flagVersions.entries())
  for (const line of readFileSync(join(source, 'flags', file), 'utf8')
    .trimEnd()
    .split('\n')) {
    const [name = '', type = '', value = ''] = line.split('\t')
    const row = rows.get(name) ?? [name, type, ...flagVersions.map(() => '-')]
    row[i + 2] = value
    rows.set(name, row)
  }
const head = ['flag', 'type', ...flagVersions.map((file) => file.replace('.tsv', ''))]
const sorted = [...rows.values()].sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
writeFileSync(join(target, 'flags.tsv'), `${[head, ...sorted].map((row) => row.join('\t')).join('\n')}\n`)

/** The same roles occur in every version. The gzip window is too small to find these repetitions. */
writeFileSync(join(target, 'roles.json.br'), brotliCompressSync(JSON.stringify(documentsIn('roles'))))
