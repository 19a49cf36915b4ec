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
  ['schema', 'pki', 'cel', 'streaming', 'gotemplate'],
  ['kinds', 'codec', 'outbound', 'encryption'],
  ['merge'],
  ['cache', 'authn', 'authz', 'audit', 'client', 'flowcontrol'],
  ['reconcile', 'node-port', 'volumes'],
  ['scheduler'],
  ['admission', 'controllers', 'cli', 'joining', 'library', 'nodes'],
  ['registry'],
  ['resources', 'custom', 'http', 'upkeep', 'backup'],
  ['aggregation', 'console'],
  ['server'],
  ['testing'],
]

/** Rooms that may import fewer rooms than their layer would let them. */
const only: { readonly [room: string]: readonly string[] } = {
  store: ['base'],
  client: ['base', 'model'],
  outbound: ['base', 'model'],
  reconcile: ['base', 'telemetry', 'model', 'client'],
  volumes: ['model'],
  scheduler: ['base', 'telemetry', 'model', 'client', 'reconcile', 'volumes'],
  controllers: ['base', 'telemetry', 'model', 'pki', 'client', 'reconcile', 'volumes', 'scheduler'],
  'node-port': ['base', 'telemetry', 'model', 'pki', 'streaming', 'client'],
  streaming: ['base'],
  gotemplate: ['base', 'model'],
  nodes: ['base', 'telemetry', 'model', 'gotemplate', 'codec', 'client', 'reconcile', 'node-port', 'scheduler'],
  library: ['base', 'model', 'schema', 'kinds', 'codec', 'client', 'reconcile'],
}

/** Rooms whose types these may name besides, in type-only imports, which leave nothing in a bundle. */
const onlyTypes: { readonly [room: string]: readonly string[] } = {
  client: ['kinds'],
  volumes: ['kinds'],
  scheduler: ['kinds'],
  controllers: ['kinds'],
  nodes: ['kinds'],
}

/** What runs in a browser as well: nothing of Node, no library, and nothing of the folder that is for Node. */
const anywhere = { folder: 'client/', but: 'client/node/' }

/** The page of the console runs in a browser alone: of its own room only itself, and of others nothing of Node. */
const page = 'console/page/'

/** Who may import the store: it hands out bytes, which only these rooms understand. */
const storeReaders = ['store', 'encryption', 'cache', 'registry', 'http', 'upkeep', 'backup', 'server', 'testing']

const drivers: { readonly [name: string]: string } = {
  lmdb: 'store/lmdb',
  'prom-client': 'telemetry',
  jose: 'authn',
  '@noble/ciphers': 'encryption',
  ws: 'base/websocket',
}

const faults: string[] = []
const done = new Set<string>()
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
const imports = new Map(files.map((file) => [file, importsOf(file)]))

for (const [file, targets] of imports) {
  for (const found of targets) checkImport(file, found)
  if (runsAnywhere(file)) for (const { target } of targets) checkAnywhere(file, target)
  for (const { target } of targets) checkPage(file, target)
}
for (const file of files) findCircle(file, [])
checkRooms()
for (const fault of new Set(faults)) console.error(fault)
console.log(`${files.length} files checked, ${new Set(faults).size} faults in their layers`)
process.exitCode = faults.length > 0 ? 1 : 0

interface Import {
  /** A file, from the root of the sources, or the name of a module. */
  readonly target: string
  readonly typeOnly: boolean
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found = [
    ...text.matchAll(
      /^\s*(?:import|export)(\s+type)?\b[^'"]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|^\s*import\s+'([^']+)'/gm,
    ),
  ]
  return found.map((match) => {
    const name = match[2] ?? match[3] ?? match[4]!
    return {
      target: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
      typeOnly: match[1] !== undefined,
    }
  })
}

/** Layers name the rooms that there are, all of them and no others. */
function checkRooms(): void {
  const rooms = new Set(files.map((file) => file.split('/')[0]!))
  const named = new Set(layers.flat())
  for (const room of rooms) if (!named.has(room)) faults.push(`src/${room} is in no layer of scripts/check-layers.ts`)
  for (const room of named)
    if (!rooms.has(room)) faults.push(`there is no src/${room}: take it out of scripts/check-layers.ts`)
}

function checkImport(file: string, { target, typeOnly }: Import): void {
  const room = roomOf(file)
  if (!/\.tsx?$/.test(target)) {
    const home = drivers[target]
    if (home !== undefined && !file.startsWith(`${home}/`))
      faults.push(`${file} imports ${target}, which only ${home}/ may`)
    return
  }
  const other = roomOf(target)
  if (room === other) return
  if (levelOf(other, target) >= levelOf(room, file))
    faults.push(`${file} imports ${target}: ${other} is not below ${room}`)
  const allowed = [...(only[room] ?? [other]), ...(typeOnly ? (onlyTypes[room] ?? []) : [])]
  if (!allowed.includes(other)) faults.push(`${file} imports ${target}: ${room} imports only ${allowed.join(', ')}`)
  if (other === 'store' && !storeReaders.includes(room))
    faults.push(`${file} imports ${target}: ${room} has no business with the store`)
}

function runsAnywhere(file: string): boolean {
  return file.startsWith(anywhere.folder) && !file.startsWith(anywhere.but)
}

function checkAnywhere(file: string, target: string): void {
  if (!/\.tsx?$/.test(target) || target.startsWith(anywhere.but))
    faults.push(`${file} imports ${target}: what is not in ${anywhere.but} must run in a browser`)
}

function checkPage(file: string, target: string): void {
  const isOfPage = file.startsWith(page)
  if (target.startsWith(page) && !isOfPage) faults.push(`${file} imports ${target}: the page is a program of its own`)
  if (isOfPage && (target.startsWith('node:') || target.startsWith(anywhere.but) || isServerPart(target)))
    faults.push(`${file} imports ${target}: the page runs in a browser`)
}

function isServerPart(target: string): boolean {
  return target.startsWith('console/') && !target.startsWith(page)
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
  for (const { target } of imports.get(file) ?? []) if (imports.has(target)) findCircle(target, [...path, file])
  done.add(file)
}
