/**
 * Implements `orchctl wait`, which waits until objects meet a condition, have a given field value or no longer exist.
 */

import { isObject, type Json, own } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { flag, type OptionsOf, refusedFlag, text, UsageError } from '../../../base/flags/flags.ts'
import { typeName } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { findSubjects, type Subject, subjectFlags } from '../arguments/subjects.ts'
import { inBulk } from '../changes/bulk.ts'
import { report, shownFlags } from '../changes/report-write.ts'
import { type Condition, isGone, waitFor } from '../changes/wait-for.ts'
import { connectionFlags, readTime } from '../connection/connection-flags.ts'
import { type Session, withSession } from '../connection/session.ts'
import { defineCommand } from '../program/command.ts'

const flags = {
  for: flag({
    name: 'for',
    value: 'CONDITION',
    read: text,
    help: "condition to wait for: delete, create, condition=NAME[=VALUE] or jsonpath='{.status.phase}'=VALUE",
  }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '30s',
    read: readTimeout,
    help: 'maximum time to wait for each object; 0 checks the condition once; a negative value means one week',
  }),
  ...subjectFlags,
  ...shownFlags,
  local: refusedFlag('local', 'the objects to wait for are on the server', { accepted: 'false' }),
  ...connectionFlags,
}

export const waitCommand = defineCommand({
  name: 'wait',
  forms: ['(TYPE NAME... | TYPE/NAME... | -f FILE | TYPE -l SELECTOR | TYPE --all) --for=CONDITION [flags]'],
  about: 'Wait until objects meet a condition. Fail if the timeout expires.',
  examples: [
    'orchctl wait pod/web --for=condition=Ready --timeout=60s',
    "orchctl wait pods -l app=web --for=jsonpath='{.status.phase}'=Running",
    'orchctl wait namespace/test --for=delete',
  ],
  flags,
  run: async (context, { options, words }) => {
    const until = await readCondition(options.for)
    await withSession(context, options, async (session) => {
      const subjects = await findSubjects(session, words, options)
      if (subjects.length === 0) throw new UsageError('no matching resources found')
      await inBulk(context, subjects, {
        sortOf: ({ type }) => type,
        done: 'as asked for',
        act: (subject, index) => waitForOne(session, subject, { until, options, index }),
      })
    })
  },
})

const weekMs = 7 * 24 * 3_600_000

function readTimeout(value: string): number {
  return value.startsWith('-') && readTime(value.slice(1)) > 0 ? weekMs : readTime(value)
}

async function waitForOne(
  session: Session,
  subject: Subject,
  { until, options, index }: { until: Condition; options: OptionsOf<typeof flags>; index: number },
): Promise<string> {
  const { type, object } = subject
  // Compare UIDs, so that a new object with the same name does not count as the old one.
  const deletion = object?.metadata.uid !== undefined ? isGone(object.metadata.uid) : isGone(undefined)
  const condition = options.for === 'delete' ? deletion : orNotFound(until, subject, options.for)
  let last = object ?? namedObject(subject)
  const remembering: Condition = (latestObject) => {
    last = latestObject ?? last
    return condition(latestObject)
  }
  await waitFor(session, subject, { until: remembering, timeoutMs: options.timeout })
  return await report(options, { type, object: last, done: 'condition met', index })
}

/** Returns an object with only a type and a name, to report an object that was never found. */
function namedObject({ type, name }: Subject): ApiObject {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  return { apiVersion, kind: type.kind, metadata: { ...name } }
}

/** Fails immediately if the object does not exist, because its condition would never be met. */
function orNotFound(until: Condition, { type, name }: Subject, what: string): Condition {
  return (object) => {
    if (object === undefined && what !== 'create')
      throw new StatusError({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        code: 404,
        reason: 'NotFound',
        message: `${typeName(type)} "${name.name}" not found`,
      })
    return until(object)
  }
}

async function readCondition(what: string): Promise<Condition> {
  if (what === 'delete') return isGone(undefined)
  if (what === 'create') return (object) => object !== undefined
  const [sort, rest] = splitAt(what, '=')
  if (sort === 'condition' && rest !== '') return hasCondition(rest)
  if (sort === 'jsonpath' && rest !== '') return await hasValue(rest)
  throw new UsageError(
    `unrecognized condition: ${JSON.stringify(what)}; use --for=delete, --for=create, --for=condition=NAME or --for=jsonpath='{.path}'=VALUE`,
  )
}

function splitAt(text: string, mark: string): [string, string] {
  const place = text.indexOf(mark)
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)]
}

function hasCondition(text: string): Condition {
  const [name, value] = splitAt(text, '=')
  const expectedValue = (value || 'True').toLowerCase()
  return (object) =>
    conditionsOf(object).some(
      (condition) =>
        textAt(condition, 'type').toLowerCase() === name.toLowerCase() &&
        textAt(condition, 'status').toLowerCase() === expectedValue &&
        isRecent(condition, object),
    )
}

/** Whether the server reported the condition for the current generation of the object. */
function isRecent(condition: Json, object: ApiObject | undefined): boolean {
  const observed = isObject(condition) ? own(condition, 'observedGeneration') : undefined
  return typeof observed !== 'number' || observed >= (object?.metadata.generation ?? 0)
}

function conditionsOf(object: ApiObject | undefined): Json[] {
  const status = object === undefined ? undefined : own(asJson(object), 'status')
  const conditions = isObject(status) ? own(status, 'conditions') : undefined
  return Array.isArray(conditions) ? conditions : []
}

function textAt(value: Json, field: string): string {
  const member = isObject(value) ? own(value, field) : undefined
  return typeof member === 'string' ? member : ''
}

async function hasValue(text: string): Promise<Condition> {
  const match = /^(\{.*\}|[^=]+?)(?:=(.*))?$/s.exec(text)
  const { parsePath, valuesAt, plainText } = await import('../../../api/jsonpath/templates.ts')
  const path = parsePath(match![1]!)
  const expectedValue = match![2]
  return (object) => {
    const values = object === undefined ? [] : valuesAt(path, asJson(object))
    return expectedValue === undefined ? values.length > 0 : values.some((value) => plainText(value) === expectedValue)
  }
}
