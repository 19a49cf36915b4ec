/**
 * Labels and annotations on the command line: `key=value` sets a label or annotation, and `key-` removes it. `orchctl
 * label` and `orchctl annotate` share this code and differ only in the metadata field.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { type OptionsOf, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { findSubjects, type Subject, subjectFlags } from '../../arguments/subjects.ts'
import { recordFlag } from '../../changes/change-cause.ts'
import {
  type Change,
  changeLocally,
  changeSubjects,
  liveOf,
  localFlag,
  resourceVersionFlag,
} from '../../changes/patch-command.ts'
import { refuseListedForm, writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { singularName } from '../../connection/find-type.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { escapeLine } from '../../printers/escape.ts'
import type { Context } from '../../program/command.ts'

export const markFlags = {
  ...subjectFlags,
  overwrite: toggle({ name: 'overwrite', help: 'overwrite existing values' }),
  local: localFlag,
  resourceVersion: resourceVersionFlag,
  record: recordFlag,
  list: toggle({ name: 'list', help: 'print the current values without changing them' }),
  ...writeFlags,
  ...connectionFlags,
}

export interface MarkSort {
  readonly map: 'labels' | 'annotations'
  /** Noun that messages use for an entry of the field, such as `label`. */
  readonly noun: string
  /** Whether to report keys that should be removed but do not exist. */
  readonly namesAbsent: boolean
  /** Past participle of the operation, such as `labeled`, for the report line. */
  readonly done: string
  /** Returns the error message for a key that already has a different value. */
  readonly taken: (what: string) => string
  /** Validates a value. Returns the errors. */
  readonly faultsOf: (value: string) => readonly string[]
}

type Options = OptionsOf<typeof markFlags>

/** Labels or annotations to set, by key. Undefined removes the key. */
type Marks = ReadonlyMap<string, string | undefined>

export async function runMarks(
  context: Context,
  { words, options }: { readonly words: readonly string[]; readonly options: Options },
  sort: MarkSort,
): Promise<void> {
  const start = words.findIndex(isMark)
  const [subjects, marks] = start < 0 ? [words, []] : [words.slice(0, start), words.slice(start)]
  const requestedMarks = readMarks(marks, sort)
  if (requestedMarks.size === 0 && !options.list)
    throw new UsageError(
      `at least one ${sort.noun} update is required: use key=value to set a value, or key- to remove a key`,
    )
  if (options.list) refuseListedForm(options)
  if (options.local)
    return await changeLocally(context, options, {
      change: (object) => changeOf(object, requestedMarks, { sort, overwrite: options.overwrite }).next,
      done: sort.done,
    })
  await withSession(context, options, async (session) => {
    if (requestedMarks.size > 0)
      await changeSubjects(session, subjects, {
        options,
        unchanged: `not ${sort.done}`,
        changeOf: (live) => {
          if (sort.namesAbsent && options.output.form === '') context.out(absentText(live, requestedMarks, sort))
          return changeOf(live, requestedMarks, { sort, overwrite: options.overwrite })
        },
      })
    if (options.list) await list(session, await findSubjects(session, subjects, options), sort)
  })
}

/** Lists the values of a single object, or the values of several objects, each below the name of its object. */
async function list(session: Session, subjects: readonly Subject[], { map }: MarkSort): Promise<void> {
  const one = subjects.length === 1
  for (const { type, name } of subjects) {
    const present = (await liveOf(session, { type, name })).metadata[map] ?? {}
    const title = one ? '' : `Listing ${map} for ${singularName(type)}/${escapeLine(name.name)}:\n`
    const lines = Object.entries(present).map(
      ([key, value]) => `${one ? '' : ' '}${escapeLine(key)}=${escapeLine(value)}\n`,
    )
    session.context.out(title + lines.join(''))
  }
}

function isMark(word: string): boolean {
  return word.includes('=') || word.endsWith('-')
}

function readMarks(words: readonly string[], { noun, faultsOf }: MarkSort): Marks {
  const marks = new Map<string, string | undefined>()
  for (const word of words) {
    const equals = word.indexOf('=')
    if (equals < 0 && !word.endsWith('-'))
      throw new UsageError(
        `${JSON.stringify(word)} is not a valid ${noun} update: use key=value to set a value, or key- to remove a key`,
      )
    const key = equals < 0 ? word.slice(0, -1) : word.slice(0, equals)
    if (key === '')
      throw new UsageError(`${JSON.stringify(word)} has no key: use key=value to set a value, or key- to remove a key`)
    if (marks.has(key)) throw new UsageError(`the key ${JSON.stringify(key)} is specified more than once`)
    const value = equals < 0 ? undefined : word.slice(equals + 1)
    const faults = value === undefined ? [] : faultsOf(value)
    if (faults.length > 0) throw new UsageError(`invalid ${noun} value: ${JSON.stringify(word)}: ${faults.join('; ')}`)
    marks.set(key, value)
  }
  return marks
}

function absentText({ metadata }: ApiObject, requestedMarks: Marks, { map, noun }: MarkSort): string {
  const absent = [...requestedMarks].filter(
    ([key, value]) => value === undefined && !Object.hasOwn(metadata[map] ?? {}, key),
  )
  return absent.map(([key]) => `${noun} ${JSON.stringify(key)} not found.\n`).join('')
}

function changeOf(
  live: ApiObject,
  requestedMarks: Marks,
  { sort, overwrite }: { sort: MarkSort; overwrite: boolean },
): Change {
  const present = live.metadata[sort.map] ?? {}
  const changed: { [key: string]: string | null } = {}
  const next = new Map(Object.entries(present))
  for (const [key, value] of requestedMarks) {
    const before = Object.hasOwn(present, key) ? present[key] : undefined
    if (before === value) continue
    if (before !== undefined && value !== undefined && !overwrite)
      throw new UsageError(sort.taken(`'${key}' already has a value (${before})`))
    Object.defineProperty(changed, key, { value: value ?? null, enumerable: true, configurable: true, writable: true })
    if (value === undefined) next.delete(key)
    else next.set(key, value)
  }
  const patch = Object.keys(changed).length === 0 ? undefined : { merge: { metadata: { [sort.map]: changed } } }
  return {
    patch,
    done: sort.done,
    next: { ...live, metadata: { ...live.metadata, [sort.map]: Object.fromEntries(next) } },
  }
}
