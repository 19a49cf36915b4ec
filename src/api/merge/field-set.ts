/**
 * A set of fields in an object, as a tree: the fields that a manager owns or that a change modified.
 *
 * A path element is written in the same way as in managedFields:
 *
 *   f:name         a field of an object or a key of a map
 *   k:{"name":"a"} the element of a keyed list with these key fields
 *   v:"a"          the element of a set with this value
 *
 * For example, `{"f:data":{".":{},"f:k":{}}}` is the set of `data` itself and `data.k`, where `.` means that the field
 * itself is a member.
 *
 * Sets are immutable: no function in this file modifies its arguments, and a function that changes nothing returns its
 * argument, so that `===` detects unchanged sets.
 */

import { sortUtf8 } from '../../base/collections/utf8-order.ts'
import { stringifyMembers } from '../codec/json.ts'
import { isObject, type Json, type JsonObject, setKey } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { parseNative } from '../json/native-json.ts'
import { escapeMarkup } from './path-elements.ts'

export interface FieldSet {
  /** Whether the field itself is in the set. */
  readonly member: boolean
  /** Subsets by path element. None of them is empty. */
  readonly children: ReadonlyMap<string, FieldSet>
}

const noChildren: ReadonlyMap<string, FieldSet> = new Map()

export const emptySet: FieldSet = { member: false, children: noChildren }
export const justHere: FieldSet = { member: true, children: noChildren }

/** Whether the set is empty. */
export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0
}

/** Returns the fields below a path element. Returns an empty set if there are none. */
export function below(set: FieldSet, step: string): FieldSet {
  return set.children.get(step) ?? emptySet
}

/** Creates a set. Drops empty branches. */
function makeSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  const nonEmptyChildren = new Map<string, FieldSet>()
  for (const [step, set] of children) if (!isEmpty(set)) nonEmptyChildren.set(step, set)
  return nonEmptyChildren.size === 0 ? (member ? justHere : emptySet) : { member, children: nonEmptyChildren }
}

/** Returns a copy of the set after applying `change` to each branch. */
export function rebuild(
  set: FieldSet,
  member: boolean,
  change: (branch: FieldSet, step: string) => FieldSet,
): FieldSet {
  let children: Map<string, FieldSet> | undefined
  for (const [step, branch] of set.children) {
    const next = change(branch, step)
    if (next !== branch) children ??= before(set, step)
    if (children !== undefined && !isEmpty(next)) children.set(step, next)
  }
  if (children === undefined) return member === set.member ? set : { member, children: set.children }
  return children.size === 0 ? (member ? justHere : emptySet) : { member, children }
}

/** Like `rebuild`, but yields periodically so that other work can run. */
export function* rebuildSliced(set: FieldSet, { member, change }: Rebuilding): Generator<void, FieldSet> {
  const changed = new Map<string, FieldSet>()
  let branches = 0
  for (const [step, branch] of set.children) {
    if (++branches % partsPerSlice === 0) yield
    const next = yield* change(branch, step)
    if (next !== branch) changed.set(step, next)
  }
  yield
  return rebuild(set, member, (branch, step) => changed.get(step) ?? branch)
}

interface Rebuilding {
  readonly member: boolean
  readonly change: (branch: FieldSet, step: string) => Generator<void, FieldSet>
}

/** Copies the branches that precede the given one, as the start of a modified set. */
function before(set: FieldSet, end: string): Map<string, FieldSet> {
  const children = new Map<string, FieldSet>()
  for (const [step, branch] of set.children) {
    if (step === end) break
    children.set(step, branch)
  }
  return children
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b
  if (isEmpty(b) || a === b) return a
  let children: Map<string, FieldSet> | undefined
  for (const [step, set] of b.children) {
    const ownSet = a.children.get(step)
    const both = ownSet === undefined ? set : union(ownSet, set)
    if (both === ownSet) continue
    children ??= new Map(a.children)
    children.set(step, both)
  }
  const member = a.member || b.member
  return children === undefined && member === a.member ? a : { member, children: children ?? a.children }
}

/**
 * Returns the union of all sets. This is cheaper than a series of pairwise unions, each of which would copy the
 * previous result.
 */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 3) return union(sets[0] ?? emptySet, sets[1] ?? emptySet)
  const branches = new Map<string, FieldSet[]>()
  for (const { children } of sets) {
    for (const [step, branch] of children) {
      const otherBranches = branches.get(step)
      if (otherBranches === undefined) branches.set(step, [branch])
      else otherBranches.push(branch)
    }
  }
  const member = sets.some((set) => set.member)
  return makeSet(
    member,
    Array.from(branches, ([step, parts]) => [step, unionAll(parts)] as const),
  )
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return rebuild(a, a.member && b.member, (branch, step) => intersection(branch, below(b, step)))
}

/** Like `intersection`, but yields periodically. */
export function* intersectionSliced(a: FieldSet, b: FieldSet): Generator<void, FieldSet> {
  if (!isLargeSet(a)) return intersection(a, b)
  return yield* rebuildSliced(a, {
    member: a.member && b.member,
    change: (branch, step) => intersectionSliced(branch, below(b, step)),
  })
}

/** Returns the fields in `a` that are not in `b`. Fields below a field in `b` remain. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a
  return rebuild(a, a.member && !b.member, (branch, step) => difference(branch, below(b, step)))
}

/** Like `difference`, but yields periodically. */
export function* differenceSliced(a: FieldSet, b: FieldSet): Generator<void, FieldSet> {
  if (isEmpty(b) || !isLargeSet(a)) return difference(a, b)
  return yield* rebuildSliced(a, {
    member: a.member && !b.member,
    change: (branch, step) => differenceSliced(branch, below(b, step)),
  })
}

/** Returns the fields in `a` that are neither in `b` nor below a member of `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (b.member) return emptySet
  if (isEmpty(b)) return a
  return rebuild(a, a.member, (branch, step) => differenceBelow(branch, below(b, step)))
}

/** Whether `a` contains every field in `b`. */
export function covers(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (b.member && !a.member) return false
  for (const [step, set] of b.children) if (!covers(below(a, step), set)) return false
  return true
}

/** Like `covers`, but yields periodically. */
export function* coversSliced(a: FieldSet, b: FieldSet): Generator<void, boolean> {
  if (a === b || !isLargeSet(b)) return covers(a, b)
  if (b.member && !a.member) return false
  let branches = 0
  for (const [step, set] of b.children) {
    if (++branches % partsPerSlice === 0) yield
    if (!(yield* coversSliced(below(a, step), set))) return false
  }
  return true
}

/** Whether both sets have the same fields. */
export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  for (const [step, set] of a.children) if (!sameSet(set, below(b, step))) return false
  return true
}

/** Like `sameSet`, but yields periodically. */
export function* sameSetSliced(a: FieldSet, b: FieldSet): Generator<void, boolean> {
  if (a === b || !isLargeSet(a)) return sameSet(a, b)
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  let branches = 0
  for (const [step, set] of a.children) {
    if (++branches % partsPerSlice === 0) yield
    if (!(yield* sameSetSliced(set, below(b, step)))) return false
  }
  return true
}

/** Returns a set of the fields at the given paths. */
export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  return unionAll(
    paths.map((path) => path.reduceRight<FieldSet>((rest, step) => makeSet(false, [[step, rest]]), justHere)),
  )
}

/** Encodes the set as `fieldsV1`. The keys are already in order, so the JSON writer need not sort them. */
export function toFieldsV1(set: FieldSet): JsonObject {
  if (set.children.size === 0) return nothingBelow
  const fields: JsonObject = {}
  if (set.member) fields['.'] = nothingBelow
  for (const step of stepsInOrder(set)) setKey(fields, step, toFieldsV1(set.children.get(step)!))
  return fields
}

/** Like `toFieldsV1`, but yields periodically. */
export function* toFieldsSliced(set: FieldSet): Generator<void, JsonObject> {
  if (!isLargeSet(set)) return toFieldsV1(set)
  yield
  const fields: JsonObject = {}
  if (set.member) fields['.'] = nothingBelow
  let steps = 0
  for (const step of stepsInOrder(set)) {
    if (++steps % partsPerSlice === 0) yield
    setKey(fields, step, yield* toFieldsSliced(set.children.get(step)!))
  }
  return fields
}

function stepsInOrder({ children }: FieldSet): Iterable<string> {
  return children.size === 1 ? children.keys() : sortUtf8([...children.keys()])
}

/** Whether a set is so large that its traversal would delay other work. */
export function isLargeSet(set: FieldSet): boolean {
  return leftAfter(set, manyPlaces) < 0
}

const manyPlaces = 1000

function leftAfter({ children }: FieldSet, count: number): number {
  let remainingFields = count - children.size
  for (const branch of children.values()) {
    if (remainingFields < 0) return remainingFields
    if (branch.children.size > 0) remainingFields = leftAfter(branch, remainingFields)
  }
  return remainingFields
}

/** The value of every field without children. Most fields have no children, so they share this value. */
const nothingBelow: JsonObject = Object.freeze({})

/** Parses a path element. Returns its canonical spelling, or undefined if it is invalid. */
export type ReadElement = (text: string) => string | undefined

/** Accepts path elements without normalizing them. Used for sets that this server wrote itself. */
export const asWritten: ReadElement = (text) => text

/** Decodes `fieldsV1`. Returns undefined if the value is malformed. */
export function fromFieldsV1(fields: Json | undefined, readElement: ReadElement = normalElement): FieldSet | undefined {
  return rootOf(readBranch(fields, readElement))
}

/** Like `fromFieldsV1`, but yields periodically. */
export function* fromFieldsSliced(
  fields: Json | undefined,
  readElement: ReadElement = normalElement,
): Generator<void, FieldSet | undefined> {
  return rootOf(yield* branchSliced(fields, readElement))
}

/** Returns the set without the object itself, which is not a field. */
function rootOf(set: FieldSet | undefined): FieldSet | undefined {
  return set === undefined || !set.member ? set : { member: false, children: set.children }
}

function* branchSliced(fields: Json | undefined, readElement: ReadElement): Generator<void, FieldSet | undefined> {
  if (!isObject(fields) || !isLarge(fields)) return readBranch(fields, readElement)
  yield
  const children = new Map<string, FieldSet>()
  let keys = 0
  for (const key of Object.keys(fields)) {
    if (++keys % partsPerSlice === 0) yield
    if (key === '.') continue
    const step = readElement(key)
    const branch = step === undefined ? undefined : yield* branchSliced(fields[key], readElement)
    if (branch === undefined) return undefined
    children.set(step!, branch)
  }
  return { member: Object.hasOwn(fields, '.'), children }
}

function readBranch(fields: Json | undefined, readElement: ReadElement): FieldSet | undefined {
  if (!isObject(fields)) return undefined
  const keys = Object.keys(fields)
  if (keys.length === 0) return justHere
  const children = new Map<string, FieldSet>()
  for (const key of keys) {
    if (key === '.') continue
    const step = readElement(key)
    const branch = step === undefined ? undefined : readBranch(fields[key], readElement)
    if (branch === undefined) return undefined
    children.set(step!, branch)
  }
  return { member: children.size === 0 || Object.hasOwn(fields, '.'), children }
}

/**
 * Returns the canonical spelling of a path element, or undefined if the element is invalid. Clients may format the JSON
 * of a key differently.
 */
function normalElement(text: string): string | undefined {
  if (text.startsWith('f:')) return text
  const json = /^[kvi]:/.test(text) ? parsed(text.slice(2)) : undefined
  if (json === undefined) return undefined
  if (!text.startsWith('k:')) return escapeMarkup(text)
  return isObject(json) && Object.keys(json).length > 0 ? `k:{${escapeMarkup(stringifyMembers(json))}}` : undefined
}

function parsed(text: string): Json | undefined {
  try {
    return parseNative(text)
  } catch {
    return undefined // The string is not a path element. The caller decides how to handle it.
  }
}
