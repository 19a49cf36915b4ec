/**
 * Locates the pod spec of an object and changes part of it, for `orchctl set image`, `env`, `resources` and
 * `serviceaccount`. With `--local`, these commands change a file without a server.
 */

import { isObject, type JsonObject, own, sameJson } from '../../../../api/json/json.ts'
import { type ApiObject, asJson, asObject } from '../../../../api/model/object.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { fileFlags } from '../../arguments/subjects.ts'
import { recordFlag } from '../../changes/change-cause.ts'
import { changeLocally, changeSubjects, localFlag } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { patchFor } from '../../patches/patch-for.ts'
import type { Context } from '../../program/command.ts'

export const setFlags = {
  ...fileFlags,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: "label selector, such as app=web,tier!=cache or 'env in (dev,test)'",
  }),
  all: toggle({ name: 'all', help: 'select all objects of the given type' }),
  local: localFlag,
  record: recordFlag,
  ...writeFlags,
  ...connectionFlags,
}

export type SetOptions = OptionsOf<typeof setFlags> & { readonly resourceVersion?: string }

/** Returns a changed copy of an object. Throws UsageError if the object cannot be changed. */
export type Setter = (object: ApiObject) => ApiObject | Promise<ApiObject>

export interface Setting {
  /** Returns the setter for the command's arguments. With `--local`, `session` is undefined. */
  readonly set: (session: Session | undefined) => Setter
  /** Text of the report line, such as `image updated`. */
  readonly done: string
  /** Text to print for an object that needs no change, or undefined to print nothing. */
  readonly unchanged?: string
}

export async function setInObjects(
  context: Context,
  { words, options }: { readonly words: readonly string[]; readonly options: SetOptions },
  { set, done, unchanged }: Setting,
): Promise<void> {
  if (options.local) return await changeLocally(context, options, { change: set(undefined), done })
  await withTypedSession(context, options, async (session) => {
    const setter = set(session)
    const vendor = await session.types.vendor()
    await changeSubjects(session, words, {
      options: { ...options, fieldSelector: '', allNamespaces: false },
      unchanged,
      changeOf: async (live, { type }) => {
        const next = await setter(live)
        const same = sameJson(next, live)
        const states = { original: asJson(live), modified: asJson(next), current: asJson(live) }
        return { patch: same ? undefined : await patchFor(type, vendor, states), done, next }
      },
    })
  })
}

/**
 * Paths to the pod spec, for kinds that contain a pod spec. For other kinds, the command searches the object for a pod
 * template.
 */
const paths: readonly (readonly string[])[] = [
  ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  ['spec', 'template', 'spec'],
  ['spec'],
]

/** Returns the object with a changed pod spec. Throws UsageError if the object has no pod spec. */
export function changePodSpec(object: ApiObject, change: (spec: JsonObject) => JsonObject): ApiObject {
  const path = paths.find((names) => Array.isArray(membersAt(asJson(object), names)?.containers))
  if (path === undefined)
    throw new UsageError(`${object.kind} ${JSON.stringify(object.metadata.name)} has no containers`)
  return asObject(changeAt(asJson(object), path, change))
}

function membersAt(value: JsonObject, [name, ...rest]: readonly string[]): JsonObject | undefined {
  if (name === undefined) return value
  const member = own(value, name)
  return isObject(member) ? membersAt(member, rest) : undefined
}

function changeAt(
  value: JsonObject,
  [name, ...rest]: readonly string[],
  change: (spec: JsonObject) => JsonObject,
): JsonObject {
  if (name === undefined) return change(value)
  return { ...value, [name]: changeAt(own(value, name) as JsonObject, rest, change) }
}

export interface Container extends JsonObject {
  name: string
}

/** Returns the object after applying `change` to its containers and, with `withInit`, its init containers. */
export function changeContainers(
  object: ApiObject,
  change: (container: Container) => Container,
  { withInit = false } = {},
): ApiObject {
  const each = (list: unknown) => (Array.isArray(list) ? list.map((one) => change(one as Container)) : undefined)
  return changePodSpec(object, (spec) => ({
    ...spec,
    containers: each(spec.containers) ?? [],
    ...(withInit && Array.isArray(spec.initContainers) ? { initContainers: each(spec.initContainers)! } : {}),
  }))
}

/** Returns an error message if the pattern matches no container, and otherwise undefined. */
export function noSuchContainer(object: ApiObject, pattern: string): string | undefined {
  const names: string[] = []
  changeContainers(object, (container) => {
    names.push(container.name)
    return container
  })
  if (names.some((name) => namesContainer(pattern, name))) return undefined
  return `${object.kind}/${object.metadata.name} does not have any containers matching ${JSON.stringify(pattern)}; it has: ${names.join(', ')}`
}

/** Whether the name matches a pattern where `*` matches any characters. */
export function namesContainer(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name
  const parts = pattern.split('*')
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    at = name.indexOf(part, at)
    if (at < 0 || at + part.length > name.length - last.length) return false
    at += part.length
  }
  return true
}

/** Splits arguments into objects and changes. In `deployment web one=x`, the first change is `one=x`. */
export function splitWords(
  words: readonly string[],
  isChange: (word: string) => boolean,
): { subjects: string[]; changes: string[] } {
  const start = words.findIndex(isChange)
  if (start < 0) return { subjects: [...words], changes: [] }
  return { subjects: words.slice(0, start), changes: words.slice(start) }
}
