/**
 * Checks that imports in `src/` follow `layers.ts`: a group imports only earlier groups, a folder imports only lower
 * folders, and there are no import cycles. Type imports count as imports. Prints all violations, and exits with code 1
 * if there are any.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { browserRooms, drivers, groups, isAmong, only, onlyTypes, page, roomOf, storeReaders } from './layers.ts'

interface Import {
  /** The imported file, relative to `src/`, or the name of a package. */
  readonly target: string
  readonly typeOnly: boolean
}

const root = join(dirname(import.meta.dirname), 'src')
const faults = new Set<string>()
const done = new Set<string>()
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
const imports = new Map(files.map((file) => [file, importsOf(file)]))

/** Index of each folder's group, and of its layer within the group. */
const places = new Map<string, readonly [number, number]>()
for (const [group, { name, layers }] of groups.entries()) {
  if (layers.length === 0) places.set(name, [group, 0])
  for (const [layer, rooms] of layers.entries()) for (const room of rooms) places.set(`${name}/${room}`, [group, layer])
}

checkRooms()
for (const [file, targets] of imports)
  for (const each of targets) {
    if (isFile(each.target)) checkOrder(file, each)
    else checkDriver(file, each.target)
    checkBrowserRoom(file, each.target)
    checkPage(file, each.target)
  }
for (const file of files) findCycle(file, [])
for (const fault of faults) console.error(fault)
console.log(`${files.length} files checked, ${faults.size} faults in their layers`)
process.exitCode = faults.size > 0 ? 1 : 0

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const matches = text.matchAll(
    /^\s*(?:import|export)(\s+type)?\b[^'"]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|^\s*import\s+'([^']+)'/gm,
  )
  return [...matches].map((match) => {
    const name = match[2] ?? match[3] ?? match[4]!
    return {
      target: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
      typeOnly: match[1] !== undefined,
    }
  })
}

function isFile(target: string): boolean {
  return /\.tsx?$/.test(target)
}

/** Checks that `layers.ts` lists all existing folders and no others. */
function checkRooms(): void {
  const existing = new Set(files.map(roomOf))
  for (const room of existing) if (!places.has(room)) faults.add(`src/${room} is not in scripts/layers.ts`)
  for (const room of places.keys())
    if (!existing.has(room)) faults.add(`there is no src/${room}: remove it from scripts/layers.ts`)
}

function checkOrder(file: string, { target, typeOnly }: Import): void {
  const room = roomOf(file)
  const other = roomOf(target)
  if (room === other) return
  if (!isBelow(other, room)) faults.add(`${file} imports ${target}: ${other} is not below ${room}`)
  const allowed = only[room]
  if (allowed !== undefined && !isAmong(other, ['base', ...allowed, ...(typeOnly ? (onlyTypes[room] ?? []) : [])]))
    faults.add(`${file} imports ${target}: ${room} imports only base, ${allowed.join(', ')}`)
  if (other === 'storage/store' && !isAmong(room, storeReaders))
    faults.add(`${file} imports ${target}: ${room} may not import the store`)
}

function isBelow(lower: string, upper: string): boolean {
  const [lowerGroup, lowerLayer] = places.get(lower) ?? [Number.NaN, Number.NaN]
  const [upperGroup, upperLayer] = places.get(upper) ?? [Number.NaN, Number.NaN]
  return lowerGroup < upperGroup || (lowerGroup === upperGroup && lowerLayer < upperLayer)
}

function checkDriver(file: string, target: string): void {
  const home = drivers[target]
  if (home !== undefined && !file.startsWith(`${home}/`))
    faults.add(`${file} imports ${target}, which only ${home}/ may`)
}

function checkBrowserRoom(file: string, target: string): void {
  const room = roomOf(file)
  if (browserRooms.includes(room) && !isFile(target))
    faults.add(`${file} imports ${target}: ${room} runs in browsers too`)
}

function checkPage(file: string, target: string): void {
  const isOfPage = file.startsWith(page)
  if (target.startsWith(page) && !isOfPage) faults.add(`${file} imports ${target}: the page is a program of its own`)
  if (isOfPage && (target.startsWith('node:') || roomOf(target) === 'client/node' || isServerPart(target)))
    faults.add(`${file} imports ${target}: the page runs in a browser`)
}

function isServerPart(target: string): boolean {
  return roomOf(target) === roomOf(page) && !target.startsWith(page)
}

function findCycle(file: string, path: readonly string[]): void {
  if (path.includes(file)) {
    faults.add(`a cycle of imports: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`)
    return
  }
  if (done.has(file)) return
  for (const { target } of imports.get(file) ?? []) if (imports.has(target)) findCycle(target, [...path, file])
  done.add(file)
}
