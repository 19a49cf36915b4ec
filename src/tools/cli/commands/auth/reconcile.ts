/**
 * `orchctl auth reconcile`: adds missing rules and subjects from files to roles and bindings. Removes extra rules and
 * subjects only on request. If a binding refers to a different role, recreates the binding, because its role is
 * immutable.
 */

import type { Json, JsonObject } from '../../../../api/json/json.ts'
import { sameJson } from '../../../../api/json/json.ts'
import { type ApiObject, asObject } from '../../../../api/model/object.ts'
import { type OptionsOf, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { WriteOptions } from '../../../../client/requests/client.ts'
import { isNotFound, StatusError } from '../../../../client/requests/status-error.ts'
import { fileFlags, type Subject, subjectsOf } from '../../arguments/subjects.ts'
import { bySubject, inBulk } from '../../changes/bulk.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { report, requestOptions, writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { singularName } from '../../connection/find-type.ts'
import type { Session } from '../../connection/session.ts'
import { readManifests } from '../../manifests/manifest.ts'
import { escapeLine } from '../../printers/escape.ts'
import type { Rule } from '../../printers/rules.ts'
import { defineCommand } from '../../program/command.ts'

const { fieldManager, ...written } = writeFlags
const flags = {
  ...fileFlags,
  removeExtraPermissions: toggle({
    name: 'remove-extra-permissions',
    help: 'remove role rules that are not in the files',
  }),
  removeExtraSubjects: toggle({
    name: 'remove-extra-subjects',
    help: 'remove binding subjects that are not in the files',
  }),
  ...written,
  fieldManager,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const reconcileCommand = defineCommand({
  name: 'auth reconcile',
  forms: ['-f FILE [flags]'],
  about: 'Create missing roles and bindings, and add missing rules and subjects to existing roles and bindings.',
  examples: ['orchctl auth reconcile -f roles.yaml', 'orchctl auth reconcile -f roles.yaml --dry-run=server'],
  flags,
  run: async (context, { options }) => {
    if (options.filename.length === 0)
      throw new UsageError('no files specified: use -f to specify the files with roles and bindings')
    const manifests = await readManifests(context, options)
    await withTypedSession(context, options, async (session) => {
      const foundSubjects = await subjectsOf(session, manifests)
      const subjects = foundSubjects.filter(isReconciled)
      for (const { type, name } of foundSubjects.filter((subject) => !isReconciled(subject))) {
        const subjectText = escapeLine(`${singularName(type)}/${name.name}`)
        context.err(`Warning: ${subjectText} is neither a role nor a binding: skipped\n`)
      }
      await inBulk(context, subjects, {
        ...bySubject,
        done: 'reconciled',
        act: async (subject, index) => await reconcile(session, subject, { options, index }),
      })
    })
  },
})

const kindsOfRoles = ['Role', 'ClusterRole']
const kindsOfBindings = ['RoleBinding', 'ClusterRoleBinding']

function isReconciled({ type }: Subject): boolean {
  return [...kindsOfRoles, ...kindsOfBindings].includes(type.kind)
}

/** Returns the field to reconcile: `rules` for roles, and `subjects` for bindings. */
function sortOf(kind: string): 'rules' | 'subjects' {
  return kindsOfRoles.includes(kind) ? 'rules' : 'subjects'
}

interface Reconciling {
  readonly options: Options
  readonly index: number
}

async function reconcile(session: Session, subject: Subject, { options, index }: Reconciling): Promise<string> {
  const { type, name } = subject
  const desiredObject = subject.object!
  const reportAs = async (object: ApiObject, done: string) => await report(options, { type, object, done, index })
  const live = await session.client.get(type, name, { signal: session.context.signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  const request = requestOptions(session, options)
  const writes = options.dryRun !== 'client'
  if (live === undefined)
    return await reportAs(writes ? await createWithNamespace(session, subject, request) : desiredObject, 'reconciled')
  const other = sortOf(type.kind) === 'subjects' && !sameJson(jsonOf(live).roleRef, jsonOf(desiredObject).roleRef)
  if (other) {
    if (writes && options.dryRun === 'none') {
      await session.client.delete(type, name, { signal: session.context.signal })
      return await reportAs(await session.client.create(type, desiredObject, request), 'reconciled')
    }
    return await reportAs(desiredObject, 'reconciled')
  }
  const merged = mergedWith(live, desiredObject, options)
  if (sameJson(merged, live)) return await reportAs(live, 'reconciled (unchanged)')
  return await reportAs(writes ? await session.client.update(type, merged, request) : merged, 'reconciled')
}

/** Creates an object. If its namespace is missing, creates the namespace first. */
async function createWithNamespace(
  { client, context: { signal } }: Session,
  { type, name: { namespace: space = '' }, object }: Subject,
  request: WriteOptions,
): Promise<ApiObject> {
  const create = () => client.create(type, object!, request)
  try {
    return await create()
  } catch (error) {
    if (!isNotFound(error) || space === '' || request.dryRun) throw error
    const desiredObject: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space } }
    await client.create(kinds.Namespace, desiredObject, { signal }).catch((refusal: unknown) => {
      // The namespace may exist by now, because a concurrent write may have created it for another object.
      if (!(refusal instanceof StatusError && refusal.reason === 'AlreadyExists')) throw refusal
    })
    return await create()
  }
}

function jsonOf(object: ApiObject): JsonObject {
  return object as unknown as JsonObject
}

function mergedWith(live: ApiObject, desiredObject: ApiObject, options: Options): ApiObject {
  const list = sortOf(live.kind)
  const present = listIn(live, list)
  const desiredItems = listIn(desiredObject, list)
  const covers = list === 'rules' ? isCovered : isAmong
  const removes = list === 'rules' ? options.removeExtraPermissions : options.removeExtraSubjects
  const remainingItems = removes ? present.filter((one) => covers(one, desiredItems)) : present
  const missing = desiredItems.filter((one) => !covers(one, remainingItems))
  const marks = (field: 'labels' | 'annotations') => {
    const all = { ...live.metadata[field], ...desiredObject.metadata[field] }
    return Object.keys(all).length === 0 ? {} : { [field]: all }
  }
  const metadata = { ...live.metadata, ...marks('labels'), ...marks('annotations') }
  return asObject({ ...jsonOf(live), metadata: metadata as unknown as Json, [list]: [...remainingItems, ...missing] })
}

function listIn(object: ApiObject, field: string): Json[] {
  const list = jsonOf(object)[field]
  return Array.isArray(list) ? list : []
}

function isAmong(one: Json, others: readonly Json[]): boolean {
  return others.some((other) => sameJson(one, other))
}

/** Whether the other rules together allow every action that this rule allows. */
function isCovered(rule: Json, others: readonly Json[]): boolean {
  const { verbs = [], apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [] } = rule as Rule
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  const allows = (test: (other: Rule) => boolean) => others.some((other) => test(other as Rule))
  const has = (list: readonly string[] = [], word: string) => list.includes(word) || list.includes('*')
  const paths = verbs.every((verb) =>
    nonResourceURLs.every((path) =>
      allows(
        (other) =>
          has(other.verbs, verb) && (other.nonResourceURLs ?? []).some((allowedPath) => covers(allowedPath, path)),
      ),
    ),
  )
  const objects = verbs.every((verb) =>
    apiGroups.every((group) =>
      resources.every((resource) =>
        names.every((name) =>
          allows(
            (other) =>
              has(other.verbs, verb) &&
              has(other.apiGroups, group) &&
              has(other.resources, resource) &&
              ((other.resourceNames ?? []).length === 0 || (name !== undefined && other.resourceNames!.includes(name))),
          ),
        ),
      ),
    ),
  )
  return paths && objects
}

function covers(allowedPath: string, path: string): boolean {
  return allowedPath === path || (allowedPath.endsWith('*') && path.startsWith(allowedPath.slice(0, -1)))
}
