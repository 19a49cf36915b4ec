/**
 * What the controls made of a write, for people who wonder: which changed which fields, and which refused it, whose
 * body is not always theirs to word. Fields are named as in errors: `spec.tolerations[1]`; what was not there before is
 * named as a whole. It travels in headers, so it is bounded: beyond that it says how many more there are.
 */

import { isObject, type Json } from '../../api/json/json.ts'
import { at, child, type FieldPath } from '../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'

/** What a control made of an object. */
export interface ControlChange {
  readonly control: string
  readonly before: ApiObject | undefined
  readonly after: ApiObject
}

/** That a control, or a webhook that it called, looked at a write: for how long, and what it said. */
export interface Look {
  readonly control: string
  readonly webhook?: string
  readonly step: 'mutate' | 'validate'
  readonly ms: number
  /** What a webhook said, or why a control refused. */
  readonly said?: string
}

/** Filled while the controls are asked. Of several attempts at a write, and of several objects, the last one counts. */
export class AdmissionExplanation {
  #changes: readonly ControlChange[] | undefined
  #looks: Look[] = []
  /** The control that refused the write. */
  refusedBy: string | undefined

  /** The controls are about to be asked; `changes` is where their changes come. */
  begin(changes: readonly ControlChange[]): void {
    this.#changes = changes
    this.#looks = []
    this.refusedBy = undefined
  }

  looked(look: Look): void {
    this.#looks.push(look)
  }

  /** Who looked at the write, in their order. Undefined where nobody did. */
  get trace(): string | undefined {
    return this.#looks.length === 0 ? undefined : describeLooks(this.#looks)
  }

  /** Undefined where no control was asked. */
  get changes(): string | undefined {
    return this.#changes && describeChanges(this.#changes)
  }
}

/** How many fields of one control are reported, how long their names may be, and how long the whole may be. */
const maxFields = 20
const maxPathLength = 200
const maxTextLength = 4000

/** `[{"control":"ServiceAccount","fields":["spec.serviceAccountName"]}]`, in ASCII alone. */
export function describeChanges(changes: readonly ControlChange[]): string {
  return bounded(
    changes.map(({ control, before, after }) => ascii(JSON.stringify(entryOf(control, changedFields(before, after))))),
  )
}

/** The entries that there is room for, and how many more there are. */
function bounded(entries: readonly string[]): string {
  const told: string[] = []
  let length = 0
  for (const text of entries) {
    length += text.length + 1
    if (length > maxTextLength) return `[${[...told, `{"more":${entries.length - told.length}}`].join(',')}]`
    told.push(text)
  }
  return `[${told.join(',')}]`
}

const maxSaidLength = 300

/** `[{"control":"LimitRanger","step":"mutate","ms":0.02}]`, in ASCII alone. */
function describeLooks(looks: readonly Look[]): string {
  const entries = looks.map(({ said, ms, ...look }) => ({
    ...look,
    ms: Math.round(ms * 100) / 100,
    ...(said === undefined ? {} : { said: said.slice(0, maxSaidLength) }),
  }))
  return bounded(entries.map((entry) => ascii(JSON.stringify(entry))))
}

function entryOf(control: string, paths: readonly FieldPath[]) {
  const fields = paths.slice(0, maxFields).map((path) => path.slice(0, maxPathLength))
  return paths.length > maxFields ? { control, fields, more: true } : { control, fields }
}

/** The fields in which two objects differ, at most one more than are reported. */
function changedFields(before: ApiObject | undefined, after: ApiObject): FieldPath[] {
  const paths: FieldPath[] = []
  compare(before === undefined ? undefined : asJson(before), asJson(after), { path: '', paths })
  return paths
}

/** What controls leave alone they share with the object before, so most of it is not looked at. */
function compare(a: Json | undefined, b: Json | undefined, { path, paths }: { path: FieldPath; paths: FieldPath[] }) {
  if (a === b || paths.length > maxFields) return
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) compare(a[i], b[i], { path: at(path, i), paths })
  } else if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined, {
        path: child(path, key),
        paths,
      })
  } else paths.push(path)
}

function ascii(text: string): string {
  return text.replaceAll(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
