/**
 * Edits by server-side apply: from what a user changed to the smallest configuration that states it, a dry run of it, and
 * the write. So the console comes to own the fields that were changed here, and no others; fields that others own are
 * conflicts, which the user settles one by one. What apply cannot do, removing a field of others, is a JSON patch.
 */

import { isObject, type Json, type JsonObject } from '../../../../api/json/json.ts'
import { parseJson } from '../../../../api/json/portable-json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import {
  type Client,
  type ObjectName,
  StatusError,
  type TransportResponse,
} from '../../../../client/library/client-browser.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { warningTexts } from '../../../../client/requests/warnings.ts'
import { compareFields, type FieldChange, pathText, pointerTo, setField, valueAt } from './fields.ts'
import type { Type } from './kinds.ts'
import { ownedPaths } from './ownership.ts'
import type { Schema } from './schema.ts'

/** Who owns what is edited here. */
export const manager = 'console'

export interface Edit {
  readonly type: Type
  /** The object as it was when the edit began. */
  readonly base: ApiObject
  readonly draft: JsonObject
  readonly schema: Schema | undefined
}

export interface Conflict {
  readonly field: string
  readonly owner: string
}

/** What became of a dry run. */
export interface Review {
  /** What would change in the object, as the server sees it. */
  readonly changes: readonly FieldChange[]
  readonly conflicts: readonly Conflict[]
  /** Fields that the edit removes and that others own too: they would stay. */
  readonly staying: readonly FieldChange[]
  /** Why the server refuses it, where that is not a conflict. */
  readonly error: unknown
  readonly admission: Admission
}

export interface Look {
  readonly control?: string
  readonly webhook?: string
  readonly step?: string
  readonly ms?: number
  readonly said?: string
  readonly fields?: readonly string[]
  readonly more?: number | boolean
}

/** What admission controls and webhooks made of it, where the user may know. */
export interface Admission {
  readonly looks: readonly Look[]
  readonly changes: readonly Look[]
  readonly refusedBy: string
  readonly warnings: readonly string[]
}

const noAdmission: Admission = { looks: [], changes: [], refusedBy: '', warnings: [] }

/** Set by the server, or written through a path of their own. */
const ignored =
  /^\.(?:apiVersion|kind|status\b.*|metadata\.(?:managedFields|resourceVersion|uid|generation|creationTimestamp|deletionTimestamp|deletionGracePeriodSeconds|selfLink|name|namespace)\b.*)$/

function editedFields({ base, draft, schema }: Edit): FieldChange[] {
  return compareFields(asJson(base), draft, schema).filter(({ path }) => !ignored.test(pathText(path)))
}

/** The fields that were changed, without those to leave alone, and those that the console owns already. */
function configurationOf(edit: Edit, left: ReadonlySet<string>): JsonObject {
  const { base, draft } = edit
  const { namespace, name = '' } = base.metadata
  const metadata: JsonObject = namespace === undefined ? { name } : { name, namespace }
  const configuration: JsonObject = { apiVersion: base.apiVersion, kind: base.kind, metadata }
  for (const entry of base.metadata.managedFields ?? []) {
    if (entry.manager !== manager || entry.operation !== 'Apply' || entry.subresource) continue
    for (const { path, whole } of ownedPaths(entry)) {
      const value = valueAt(draft, path)
      if (whole && path.length > 0 && value !== undefined) setField(configuration, path, structuredClone(value))
    }
  }
  for (const { path, after } of editedFields(edit))
    if (after !== undefined && !isLeft(left, pathText(path))) setField(configuration, path, structuredClone(after))
  return configuration
}

/** A field is left alone with whatever is in it: the server may name a conflict by a part of what was changed. */
function isLeft(left: ReadonlySet<string>, field: string): boolean {
  return left.has(field) || [...left].some((each) => each.startsWith(field))
}

export interface Choice {
  /** Conflicting fields that are not to be changed after all. */
  readonly left: ReadonlySet<string>
  /** Whether to take the other conflicting fields from their owners. */
  readonly force: boolean
}

/** Tries the edit and returns what it would do; nothing is stored. */
export async function reviewEdit(client: Client, edit: Edit, choice: Choice): Promise<Review> {
  const sent = await send(client, edit, { ...choice, dryRun: true })
  const { admission } = sent
  if (sent.error !== undefined) {
    const conflicts = conflictsIn(sent.error)
    const changes = editedFields(edit).filter(({ path }) => !isLeft(choice.left, pathText(path)))
    return { changes, conflicts, staying: [], error: conflicts.length > 0 ? undefined : sent.error, admission }
  }
  const result = asJson(sent.object!)
  const changes = compareFields(asJson(edit.base), result, edit.schema).filter(
    ({ path }) => !/^\.metadata\.(?:managedFields|resourceVersion|generation)\b/.test(pathText(path)),
  )
  const staying = editedFields(edit).filter(
    ({ path, after }) => after === undefined && valueAt(result, path) !== undefined,
  )
  return { changes, conflicts: [], staying, error: undefined, admission }
}

/** Writes the edit. `removing` are fields of others that are to go as well. */
export async function applyEdit(
  client: Client,
  edit: Edit,
  { removing, ...choice }: Choice & { readonly removing: readonly FieldChange[] },
): Promise<void> {
  if (removing.length > 0) await removeFields(client, edit, removing)
  if (editedFields(edit).some(({ after }) => after !== undefined) || removing.length === 0) {
    const { error } = await send(client, edit, { ...choice, dryRun: false })
    if (error !== undefined) throw error
  }
}

async function removeFields(client: Client, { type, base }: Edit, removing: readonly FieldChange[]): Promise<void> {
  const pointers = removing.map(({ path }) => pointerTo(asJson(base), path)).filter((each) => each !== undefined)
  // From the end, so that what is taken out of a list does not move what is still to be found.
  const operations = pointers.sort((a, b) => byIndex(b, a)).map((path) => ({ op: 'remove', path }))
  const test = { op: 'test', path: '/metadata/resourceVersion', value: base.metadata.resourceVersion }
  await client.patch(type, nameIn(base), { patch: { json: [test, ...operations] }, fieldManager: manager })
}

function byIndex(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

interface Sent {
  readonly object?: ApiObject
  readonly error?: unknown
  readonly admission: Admission
}

async function send(client: Client, edit: Edit, choice: Choice & { readonly dryRun: boolean }): Promise<Sent> {
  const explained = await sendOnce(client, edit, { ...choice, explain: choice.dryRun })
  if (!choice.dryRun || !isExplanationRefused(explained.error)) return explained
  return await sendOnce(client, edit, { ...choice, explain: false })
}

async function sendOnce(
  client: Client,
  edit: Edit,
  { left, force, dryRun, explain }: Choice & { readonly dryRun: boolean; readonly explain: boolean },
): Promise<Sent> {
  let admission = noAdmission
  try {
    const response = await client.open({
      method: 'PATCH',
      path: objectPath(edit.type, nameIn(edit.base)),
      query: { fieldManager: manager, force: force || undefined, dryRun: dryRun ? 'All' : undefined },
      body: configurationOf(edit, left),
      contentType: 'application/apply-patch+yaml',
      headers: explain ? { 'explain-admission': 'true' } : {},
      onHeaders: (headers) => {
        admission = readAdmission(headers)
      },
    })
    return { object: (await readBody(response)) as unknown as ApiObject, admission }
  } catch (error) {
    return { error, admission }
  }
}

/** The JSON of an answer. */
export async function readBody({ body }: TransportResponse): Promise<Json> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return parseJson(text + decoder.decode()) as Json
}

/** The right to know what admission does is one of its own. */
export function isExplanationRefused(error: unknown): boolean {
  return error instanceof StatusError && error.code === 403 && error.message.includes('admissionexplanations')
}

/** Reads the headers that `Explain-Admission` is answered with. */
export function readAdmission(headers: TransportResponse['headers']): Admission {
  return {
    looks: readLooks(headers['admission-trace']),
    changes: readLooks(headers['admission-changes']),
    refusedBy: headers['admission-refused-by'] ?? '',
    warnings: warningTexts(headers),
  }
}

function readLooks(text: string | undefined): readonly Look[] {
  if (text === undefined) return []
  const looks = parseJson(text) as Json
  return Array.isArray(looks) ? (looks.filter(isObject) as unknown as Look[]) : []
}

/** The fields that others own, as the server lists them. */
function conflictsIn(error: unknown): Conflict[] {
  if (!(error instanceof StatusError) || error.code !== 409) return []
  const causes = error.status.details?.causes ?? []
  return causes.flatMap(({ reason, message = '', field = '' }) =>
    reason === 'FieldManagerConflict' ? [{ field, owner: /"([^"]*)"/.exec(message)?.[1] ?? message }] : [],
  )
}

export function nameIn({ metadata: { namespace, name = '' } }: ApiObject): ObjectName {
  return namespace === undefined ? { name } : { namespace, name }
}
