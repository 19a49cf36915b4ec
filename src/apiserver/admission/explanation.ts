/**
 * Explains admission to users: which plugin changed which fields, and which plugin rejected the write, even if the
 * error message does not name the plugin. Fields are named as in error messages, for example `spec.tolerations[1]`. If
 * a whole value was added, only the path of the value itself is reported. The explanation is sent in headers, so its
 * length is limited, and the remaining entries are only counted.
 */

import { isObject, type Json } from '../../api/json/json.ts'
import { at, child, type FieldPath } from '../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'

/** A plugin that changed the object, with the object before and after the change. */
export interface ControlChange {
  readonly control: string
  readonly before: ApiObject | undefined
  readonly after: ApiObject
}

/** A call to a plugin or webhook, with its duration and result. */
export interface Look {
  readonly control: string
  readonly webhook?: string
  readonly step: 'mutate' | 'validate'
  readonly ms: number
  /** The webhook's result, or the reason why the plugin rejected the request. */
  readonly said?: string
  /** The evaluated policy. Undefined if the call evaluated no policy. */
  readonly policy?: PolicyLook
}

/** One evaluation of a policy, with a binding and a parameter object. */
export interface PolicyLook {
  readonly name: string
  readonly binding: string
  readonly params?: string
  /** The expression that denied the request. Absent if the policy allowed the request. */
  readonly expression?: string
  /** Whether the policy rejected or changed the object. */
  readonly hasEffect: boolean
  /** The values of the evaluated variables, or the errors from evaluating them. */
  readonly variables?: { readonly [name: string]: string }
}

/**
 * Collects the explanation of a write while admission runs. If a write is retried or affects several objects, the
 * explanation describes the last attempt or object.
 */
export class AdmissionExplanation {
  #changes: readonly ControlChange[] | undefined
  #looks: Look[] = []
  /** The plugin that rejected the write. */
  refusedBy: string | undefined

  /** Starts recording a new run of the plugins. `changes` is filled while they run. */
  begin(changes: readonly ControlChange[]): void {
    this.#changes = changes
    this.#looks = []
    this.refusedBy = undefined
  }

  looked(look: Look): void {
    this.#looks.push(look)
  }

  /** Returns the plugins that ran, in execution order. Undefined if no plugin ran. */
  get trace(): string | undefined {
    return this.#looks.length === 0 ? undefined : describeLooks(this.#looks)
  }

  /** Returns the changes made by the plugins. Undefined if no plugin ran. */
  get changes(): string | undefined {
    return this.#changes && describeChanges(this.#changes)
  }
}

/** Maximum number of fields per plugin, maximum length of a path, and maximum length of the explanation. */
const maxFields = 20
const maxPathLength = 200
const maxTextLength = 4000

/**
 * Returns the changes as JSON for a response header, for example
 * `[{"control":"ServiceAccount","fields":["spec.serviceAccountName"]}]`. Non-ASCII characters are escaped.
 */
export function describeChanges(changes: readonly ControlChange[]): string {
  return bounded(
    changes.map(({ control, before, after }) => ascii(JSON.stringify(entryOf(control, changedFields(before, after))))),
  )
}

/** Joins as many entries as fit within the limit, followed by the number of omitted entries. */
function bounded(entries: readonly string[], omitted = 0): string {
  const told: string[] = []
  let length = 0
  for (const text of entries) {
    length += text.length + 1
    if (length > maxTextLength) break
    told.push(text)
  }
  const more = entries.length - told.length + omitted
  return `[${more === 0 ? told.join(',') : [...told, `{"more":${more}}`].join(',')}]`
}

const maxSaidLength = 300

/**
 * Returns the calls as ASCII JSON, such as `[{"control":"LimitRanger","step":"mutate","ms":0.02}]`. If the text would
 * be too long, policies without effect are omitted first.
 */
function describeLooks(looks: readonly Look[]): string {
  const entries = looks.map(lookText)
  const length = entries.reduce((sum, { length }) => sum + length + 1, 0)
  if (length <= maxTextLength) return bounded(entries)
  const effective = entries.filter((_, i) => looks[i]!.policy?.hasEffect !== false)
  return bounded(effective, entries.length - effective.length)
}

function lookText({ said, ms, policy, ...look }: Look): string {
  return ascii(
    JSON.stringify({
      ...look,
      ms: Math.round(ms * 100) / 100,
      ...(said === undefined ? {} : { said: said.slice(0, maxSaidLength) }),
      ...(policy === undefined ? {} : { policy: policyEntry(policy) }),
    }),
  )
}

function policyEntry({ expression, hasEffect: _, ...policy }: PolicyLook) {
  return expression === undefined ? policy : { ...policy, expression: expression.slice(0, maxSaidLength) }
}

function entryOf(control: string, paths: readonly FieldPath[]) {
  const fields = paths.slice(0, maxFields).map((path) => path.slice(0, maxPathLength))
  return paths.length > maxFields ? { control, fields, more: true } : { control, fields }
}

/**
 * Returns the paths of the fields that differ. Stops as soon as there is one path more than the explanation can
 * contain.
 */
export function changedFields(before: ApiObject | undefined, after: ApiObject): FieldPath[] {
  const paths: FieldPath[] = []
  compare(before === undefined ? undefined : asJson(before), asJson(after), { path: '', paths })
  return paths
}

/**
 * Collects the paths where two values differ. Skips parts that both objects share by reference, because these are
 * equal.
 */
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
