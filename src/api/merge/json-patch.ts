/**
 * JSON Patch (RFC 6902), which is a list of operations. They are applied in order, and either all or none of them are
 * applied.
 *
 * Three rules are less strict than the RFC, for compatibility with Kubernetes clients: `replace` of a missing member
 * adds it, `test` of a missing member against null succeeds, and a negative index counts from the end. All other rules
 * follow the RFC.
 *
 * Neither the document nor the patch is modified: containers on the path to a change are copied once, and all other
 * parts are shared. All work is bounded: the number of operations, the bytes that `copy` adds, the number of list
 * elements that are shifted, and the nesting depth of the result.
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { maxDepth } from '../codec/json-scan.ts'
import { isObject, type Json, type JsonObject, own, sameJson, setKey, typeName } from '../json/json.ts'
import { entityTooLarge } from '../model/api-error.ts'
import { find, formatPointer, isWithin, type Pointer, parseIndex, parsePointer, step } from './json-pointer.ts'
import { ExpensivePatch, FailedTest, inapplicable, malformed } from './patch-faults.ts'

export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: Json }
  | { readonly op: 'move' | 'copy'; readonly path: Pointer; readonly from: Pointer }
  | { readonly op: 'remove'; readonly path: Pointer }

const maxOperations = 10_000
const maxCopiedBytes = 3 * 1024 * 1024
const maxShifted = 100_000_000
const maxUnknownMembers = 100
const operationsPerSlice = 100

/**
 * Parses the operations of a patch. Throws a 400 error for malformed patches and a 413 error for too many operations.
 */
export function parseJsonPatch(value: Json): PatchOperation[] {
  return runToCompletion(operationsSliced(value))
}

/** Like `parseJsonPatch`, but yields periodically so that other work can run. */
export function* operationsSliced(value: Json): Generator<void, PatchOperation[]> {
  if (!Array.isArray(value)) throw malformed(`expected a list of operations, got ${typeName(value)}`)
  if (value.length > maxOperations)
    throw entityTooLarge(`a JSON patch may have at most ${maxOperations} operations, but this one has ${value.length}`)
  const operations: PatchOperation[] = []
  for (const [i, operation] of value.entries()) {
    operations.push(parseOperation(operation, i))
    if (i % operationsPerSlice === 0) yield
  }
  return operations
}

/** Returns the names of unknown members in the operations of a patch, for strict field validation. */
export function unknownMembers(patch: Json): string[] {
  const names = new Set<string>()
  for (const operation of Array.isArray(patch) ? patch : []) {
    for (const name of isObject(operation) ? Object.keys(operation) : []) {
      if (!['op', 'path', 'from', 'value'].includes(name) && names.size < maxUnknownMembers) names.add(name)
    }
  }
  return [...names]
}

function parseOperation(operation: Json, i: number): PatchOperation {
  if (!isObject(operation)) throw malformed(`operation ${i} is of type ${typeName(operation)}, not an object`)
  const [op, path, from] = (['op', 'path', 'from'] as const).map((name) => textMember(operation, name, i))
  const pointer = (text: string | undefined, name: string) => pointerMember(text, name, i)
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      return { op, path: pointer(path, 'path'), value: valueMember(operation, i) }
    case 'move':
    case 'copy':
      return { op, path: pointer(path, 'path'), from: pointer(from, 'from') }
    case 'remove':
      return { op, path: pointer(path, 'path') }
    default:
      throw inapplicable(`operation ${i} has no known op (add, remove, replace, move, copy, test)`)
  }
}

function textMember(operation: JsonObject, name: string, i: number): string | undefined {
  const value = own(operation, name) ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw malformed(`"${name}" in operation ${i} is of type ${typeName(value)}, not a string`)
}

function pointerMember(text: string | undefined, name: string, i: number): Pointer {
  const pointer = text === undefined ? undefined : parsePointer(text)
  if (pointer === undefined) throw inapplicable(`"${name}" in operation ${i} is not a JSON pointer`)
  return pointer
}

function valueMember(operation: JsonObject, i: number): Json {
  const value = own(operation, 'value')
  if (value === undefined) throw inapplicable(`operation ${i} has no "value"`)
  return value
}

type Container = Json[] | JsonObject

/** The state of a document that is being patched. */
interface Draft {
  root: Json
  /** Objects and lists that this patch created. They can be modified in place, because nothing else refers to them. */
  readonly ours: Set<Container>
  copiedBytes: number
  /** Number of list elements that insertions and removals have shifted. */
  shifted: number
}

/** Applies all operations to a copy, in order. Throws a 422 error if an operation cannot be applied. */
export function applyJsonPatch(document: Json, operations: readonly PatchOperation[]): Json {
  return runToCompletion(jsonPatchSliced(document, operations))
}

/** Number of list elements to shift before yielding. */
const shiftedPerSlice = 1_000_000

/** Like `applyJsonPatch`, but yields periodically so that other work can run. */
export function* jsonPatchSliced(document: Json, operations: readonly PatchOperation[]): Generator<void, Json> {
  const draft: Draft = { root: document, ours: new Set(), copiedBytes: 0, shifted: 0 }
  let yieldedAt = 0
  for (const [i, operation] of operations.entries()) {
    yield* applyOperation(draft, operation)
    if (draft.shifted - yieldedAt < shiftedPerSlice && i % operationsPerSlice !== 0) continue
    yieldedAt = draft.shifted
    yield
  }
  // The draft may temporarily exceed the depth limit, because no operation recurses into the draft.
  if (operations.length > 0 && (yield* isDeeperThan(draft.root, maxDepth)))
    throw inapplicable(`the result is nested deeper than ${maxDepth} levels`)
  return draft.root
}

function* applyOperation(draft: Draft, operation: PatchOperation): Generator<void, void> {
  const { op, path } = operation
  switch (op) {
    case 'add':
      yield* add(draft, path, operation.value)
      break
    case 'replace':
      yield* replace(draft, path, operation.value)
      break
    case 'test':
      test(draft, path, operation.value)
      break
    case 'remove':
      yield* remove(draft, path)
      break
    case 'move':
      yield* move(draft, operation.from, path)
      break
    case 'copy':
      yield* copy(draft, operation.from, path)
      break
    default:
      op satisfies never
  }
}

function* add(draft: Draft, path: Pointer, value: Json): Generator<void, void> {
  const place = yield* openPlace(draft, path)
  if (place === 'root') draft.root = value
  else if (Array.isArray(place.parent)) splice(draft, place.parent, insertionIndex(place.parent, path), 0, value)
  else setKey(place.parent, place.token, value)
}

function insertionIndex(list: Json[], path: Pointer): number {
  const token = path.at(-1)!
  return token === '-' ? list.length : (parseIndex(token, list.length + 1) ?? nothingAt(path))
}

function splice(draft: Draft, list: Json[], index: number, removed: 0 | 1, ...added: Json[]): void {
  draft.shifted += list.length - index
  if (draft.shifted > maxShifted)
    throw new ExpensivePatch('it inserts or removes too many elements at the front of long lists')
  list.splice(index, removed, ...added)
}

function* replace(draft: Draft, path: Pointer, value: Json): Generator<void, void> {
  const place = yield* openPlace(draft, path)
  if (place === 'root') draft.root = value
  else if (!Array.isArray(place.parent)) setKey(place.parent, place.token, value)
  else place.parent[parseIndex(place.token, place.parent.length) ?? nothingAt(path)] = value
}

function* remove(draft: Draft, path: Pointer): Generator<void, void> {
  const place = yield* openPlace(draft, path)
  if (place === 'root') throw inapplicable('the whole object cannot be removed')
  const { parent, token } = place
  if (step(parent, token) === undefined) nothingAt(path)
  if (Array.isArray(parent)) splice(draft, parent, parseIndex(token, parent.length)!, 1)
  else delete parent[token]
}

function* move(draft: Draft, from: Pointer, path: Pointer): Generator<void, void> {
  const value = existing(draft, from)
  if (isWithin(path, from)) {
    if (path.length === from.length) return
    throw inapplicable(`${formatPointer(from)} cannot be moved into itself`)
  }
  yield* remove(draft, from)
  yield* add(draft, path, value)
}

function* copy(draft: Draft, from: Pointer, path: Pointer): Generator<void, void> {
  const value = existing(draft, from)
  share(draft, value)
  yield* add(draft, path, value)
}

// Requires the value at a path to equal the given value. The recursion is no deeper than the patch value, and a
// successful test examines no more values than the patch value contains.
function test(draft: Draft, path: Pointer, value: Json): void {
  const currentValue = find(draft.root, path)
  if (currentValue === undefined && value === null && isObject(find(draft.root, path.slice(0, -1)))) return
  if (!sameJson(value, currentValue)) throw new FailedTest(formatPointer(path))
}

function existing(draft: Draft, path: Pointer): Json {
  const value = find(draft.root, path)
  return value === undefined ? nothingAt(path) : value
}

/**
 * Returns the parent of the value at a path, and the last token. Copies every container along the path, so that the
 * parent can be modified.
 */
function* openPlace(draft: Draft, path: Pointer): Generator<void, 'root' | { parent: Container; token: string }> {
  if (path.length === 0) return 'root'
  let parent = yield* open(draft, draft.root, path)
  draft.root = parent
  for (const token of path.slice(0, -1)) {
    const child = yield* open(draft, step(parent, token), path)
    if (Array.isArray(parent)) parent[parseIndex(token, parent.length)!] = child
    else setKey(parent, token, child)
    parent = child
  }
  return { parent, token: path.at(-1)! }
}

function* open(draft: Draft, value: Json | undefined, path: Pointer): Generator<void, Container> {
  if (typeof value !== 'object' || value === null) return nothingAt(path)
  if (draft.ours.has(value)) return value
  const own = Array.isArray(value) ? [...value] : yield* copyMembers(value)
  draft.ours.add(own)
  return own
}

/** Number of members to copy between yields. */
const membersPerSlice = 1000

function* copyMembers(object: JsonObject): Generator<void, JsonObject> {
  const copied: JsonObject = {}
  let members = 0
  for (const key in object) {
    setKey(copied, key, object[key]!)
    if (++members % membersPerSlice === 0) yield
  }
  return copied
}

/**
 * Records that a value now has two references, so that it is no longer modified in place. Counts the bytes of the
 * value.
 */
function share(draft: Draft, value: Json): void {
  const pending: Json[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()!
    draft.copiedBytes += ownBytes(next)
    if (draft.copiedBytes > maxCopiedBytes) throw new ExpensivePatch(`its copies exceed ${maxCopiedBytes} bytes`)
    if (typeof next !== 'object' || next === null) continue
    draft.ours.delete(next)
    for (const child of Object.values(next)) pending.push(child!)
  }
}

/** Returns the size of a value in bytes, without its nested values. */
function ownBytes(value: Json): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2
  if (!isObject(value)) return Array.isArray(value) ? value.length + 2 : String(value).length
  return Object.keys(value).reduce((sum, key) => sum + Buffer.byteLength(key) + 4, 2)
}

/**
 * Whether a value is nested more deeply than the limit allows. The check proceeds level by level, so that no depth can
 * exhaust the stack. Yields periodically.
 */
function* isDeeperThan(value: Json, limit: number): Generator<void, boolean> {
  let level = isContainer(value) ? [value] : []
  let seen = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return true
    const next: Container[] = []
    for (const container of level) {
      for (const key in container) {
        if (++seen % valuesPerSlice === 0) yield
        const item = (container as JsonObject)[key]
        if (isContainer(item)) next.push(item)
      }
    }
    level = next
  }
  return false
}

const valuesPerSlice = 5_000

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null
}

function nothingAt(path: Pointer): never {
  throw inapplicable(`no value exists at ${formatPointer(path)}`)
}
