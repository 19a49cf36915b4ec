/**
 * Reference implementations of the patch formats, as simple as their RFCs: every operation copies the whole document,
 * without limits or sharing. Property tests compare the real functions with these models. The module imports nothing
 * from src. Also provides a seeded generator of documents and matching patches, and a deep freeze.
 */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

export interface ModelOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  path: string
  from?: string
  value?: Value
}

/**
 * Applies a patch as in RFC 6902, except that `replace` can add a member and `test` treats a missing member as null.
 */
export function modelJsonPatch(document: Value, operations: readonly ModelOperation[]): Value | 'refused' {
  const holder: Value[] = [structuredClone(document)]
  for (const operation of operations) if (!modelOperation(holder, operation)) return 'refused'
  return holder[0]!
}

// The document is the only element of `holder`, so that the root of the document is not a special case.
function modelOperation(holder: Value[], { op, path, from, value }: ModelOperation): boolean {
  switch (op) {
    case 'add':
      return modelSet(holder, path, structuredClone(value!), true)
    case 'replace':
      return modelSet(holder, path, structuredClone(value!), false)
    case 'remove':
      return modelRemove(holder, path)
    case 'copy': {
      const found = modelGet(holder, from!)
      return found !== undefined && modelSet(holder, path, structuredClone(found), true)
    }
    case 'move': {
      const found = modelGet(holder, from!)
      if (found === undefined || path.startsWith(`${from}/`)) return false
      return path === from || (modelRemove(holder, from!) && modelSet(holder, path, found, true))
    }
    case 'test': {
      const found = modelGet(holder, path)
      if (found !== undefined) return canonical(found) === canonical(value!)
      const parent = modelGet(holder, path.slice(0, path.lastIndexOf('/')))
      return value === null && isMap(parent)
    }
  }
}

function tokensOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((token) => token.replace(/~1/g, '/').replace(/~0/g, '~'))
}

function modelGet(holder: Value[], path: string): Value | undefined {
  let found: Value | undefined = holder[0]
  for (const token of tokensOf(path)) {
    if (Array.isArray(found)) found = isIndex(token) ? found[Number(token)] : undefined
    else if (isMap(found)) found = Object.hasOwn(found, token) ? found[token] : undefined
    else return undefined
  }
  return found
}

function modelSet(holder: Value[], path: string, value: Value, insert: boolean): boolean {
  if (path === '') {
    holder[0] = value
    return true
  }
  const parent = modelGet(holder, path.slice(0, path.lastIndexOf('/')))
  const token = tokensOf(path).at(-1)!
  if (isMap(parent)) {
    Object.defineProperty(parent, token, { value, writable: true, enumerable: true, configurable: true })
    return true
  }
  if (!Array.isArray(parent)) return false
  const index = token === '-' && insert ? parent.length : isIndex(token) ? Number(token) : Number.POSITIVE_INFINITY
  if (index > parent.length - (insert ? 0 : 1)) return false
  parent.splice(index, insert ? 0 : 1, value)
  return true
}

function modelRemove(holder: Value[], path: string): boolean {
  if (path === '' || modelGet(holder, path) === undefined) return false
  const parent = modelGet(holder, path.slice(0, path.lastIndexOf('/')))
  const token = tokensOf(path).at(-1)!
  if (Array.isArray(parent)) parent.splice(Number(token), 1)
  else if (isMap(parent)) delete parent[token]
  return true
}

function isIndex(token: string): boolean {
  return String(Number.parseInt(token, 10)) === token && !token.startsWith('-')
}

function isMap(value: Value | undefined): value is { [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** RFC 7386, section 2. */
export function modelMergePatch(target: Value | undefined, patch: Value): Value {
  if (!isMap(patch)) return patch
  const members = new Map(isMap(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, modelMergePatch(members.get(name), value))
  }
  return Object.fromEntries(members)
}

/** Returns a canonical text of a value. Equal values have equal texts, regardless of key order. */
export function canonical(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isMap(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${members.sort().join()}}`
}

export type Random = () => number

/**
 * Returns a 32-bit xorshift generator. The generated numbers are at least 0 and less than 1, and depend only on the
 * seed.
 */
export function seeded(seed: number): Random {
  let state = seed * 2654435761 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!
}

const names = ['a', 'b', '', '-', '0', '1', 'x/y', 'm~n', '~1', '__proto__', 'constructor']

export function randomValue(random: Random, depth = 3): Value {
  if (depth === 0 || random() < 0.3) return pick<Value>(random, [null, true, false, 0, 1, 2.5, '', 'x', '__proto__'])
  const size = Math.floor(random() * 4)
  if (random() < 0.4) return Array.from({ length: size }, () => randomValue(random, depth - 1))
  return Object.fromEntries(Array.from({ length: size }, () => [pick(random, names), randomValue(random, depth - 1)]))
}

/** Returns operations whose paths often exist in the document. */
export function randomOperations(random: Random, document: Value): ModelOperation[] {
  const path = () => randomPath(random, document)
  return Array.from({ length: 1 + Math.floor(random() * 6) }, (): ModelOperation => {
    const op = pick(random, ['add', 'add', 'remove', 'replace', 'move', 'copy', 'copy', 'test'] as const)
    if (op === 'remove') return { op, path: path() }
    if (op === 'move' || op === 'copy') return { op, path: path(), from: path() }
    if (op !== 'test') return { op, path: path(), value: randomValue(random, 2) }
    const at = path()
    return { op, path: at, value: random() < 0.8 ? (modelGet([document], at) ?? null) : randomValue(random, 1) }
  })
}

function randomPath(random: Random, document: Value): string {
  let path = ''
  let value: Value | undefined = document
  while (typeof value === 'object' && value !== null && random() < 0.75) {
    const known: string[] = Object.keys(value)
    const token = known.length > 0 && random() < 0.8 ? pick(random, known) : pick(random, [...names, '2', '01'])
    path += `/${token.replace(/~/g, '~0').replace(/\//g, '~1')}`
    value = modelGet([document], path)
  }
  return path
}

/** Freezes a value and all its parts, so that any attempt to modify them throws an error. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) deepFreeze(child)
  }
  return value
}
