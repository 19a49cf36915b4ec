/**
 * Checks that imports in src/ go one way: each room imports only rooms below it, no file imports itself in a circle,
 * and a driver is imported in its one folder only. Type imports count. Prints what is wrong; exits 1 if anything is.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

const root = join(dirname(import.meta.dirname), 'src')

/** From the bottom up; rooms of one line do not know each other. */
const layers: readonly (readonly string[])[] = [
  ['base'],
  ['store', 'model', 'telemetry'],
  ['schema', 'pki'],
  ['kinds', 'codec'],
  ['merge'],
  ['cache', 'authn', 'authz', 'client'],
  ['admission', 'controllers', 'cli', 'console', 'node-agent'],
  ['registry'],
  ['resources', 'custom', 'http'],
  ['server'],
  ['testing'],
]

/** Rooms that may import fewer rooms than their layer would let them. */
const only: { readonly [room: string]: readonly string[] } = {
  store: ['base'],
  client: ['base', 'model'],
  controllers: ['base', 'telemetry', 'model', 'client'],
}

/** Who may import the store: it hands out bytes, which only these rooms understand. */
const storeReaders = ['store', 'cache', 'registry', 'http', 'server', 'testing']

const drivers: { readonly [name: string]: string } = { lmdb: 'store/lmdb', 'prom-client': 'telemetry' }

const faults: string[] = []
const done = new Set<string>()
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports = new Map(files.map((file) => [file, importsOf(file)]))

for (const [file, targets] of imports) for (const target of targets) checkImport(file, target)
for (const file of files) findCircle(file, [])
for (const fault of new Set(faults)) console.error(fault)
console.log(`${files.length} files checked, ${new Set(faults).size} faults in their layers`)
process.exitCode = faults.length > 0 ? 1 : 0

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found = [
    ...text.matchAll(
      /^\s*(?:import|export)\b[^'"]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|^\s*import\s+'([^']+)'/gm,
    ),
  ]
  return found
    .map((match) => match[1] ?? match[2] ?? match[3]!)
    .map((name) => (name.startsWith('.') ? normalize(join(dirname(file), name)) : name))
}

function checkImport(file: string, target: string): void {
  const room = roomOf(file)
  if (!target.endsWith('.ts')) {
    const home = drivers[target]
    if (home !== undefined && !file.startsWith(`${home}/`))
      faults.push(`${file} imports ${target}, which only ${home}/ may`)
    return
  }
  const other = roomOf(target)
  if (room === other) return
  if (levelOf(other, target) >= levelOf(room, file))
    faults.push(`${file} imports ${target}: ${other} is not below ${room}`)
  if (only[room] && !only[room].includes(other))
    faults.push(`${file} imports ${target}: ${room} imports only ${only[room].join(', ')}`)
  if (other === 'store' && !storeReaders.includes(room))
    faults.push(`${file} imports ${target}: ${room} has no business with the store`)
}

function roomOf(file: string): string {
  return relative('.', file).split('/')[0]!
}

function levelOf(room: string, file: string): number {
  const level = layers.findIndex((layer) => layer.includes(room))
  if (level < 0) faults.push(`${file} is in a room that no layer names`)
  return level
}

function findCircle(file: string, path: readonly string[]): void {
  if (path.includes(file)) {
    faults.push(`a circle of imports: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`)
    return
  }
  if (done.has(file)) return
  for (const target of imports.get(file) ?? []) if (imports.has(target)) findCircle(target, [...path, file])
  done.add(file)
}
