/**
 * Implements edits with server-side apply: computes the smallest configuration with the user's changes, dry-runs it,
 * and writes it. The console therefore owns only the changed fields. Changes to other managers' fields cause conflicts,
 * which the user resolves one by one. Removing fields of other managers requires a JSON patch, because apply cannot
 * remove them.
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

/** Field manager of edits in the console. */
export const manager = 'console'

export interface Edit {
  readonly type: Type
  /** The object as it was when the user began the edit. */
  readonly base: ApiObject
  readonly draft: JsonObject
  readonly schema: Schema | undefined
}

export interface Conflict {
  readonly field: string
  readonly owner: string
}

/** The effect of an edit, as determined by a dry run. */
export interface Review {
  /** Fields that the dry run changed. */
  readonly changes: readonly FieldChange[]
  readonly conflicts: readonly Conflict[]
  /** Fields that the edit should remove but cannot, because other managers also own them. */
  readonly unchangedFields: readonly FieldChange[]
  /** Error of the dry run. Conflicts are reported separately. */
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
  readonly policy?: PolicyLook
}

/** One evaluation of an admission policy. */
export interface PolicyLook {
  readonly name?: string
  readonly binding?: string
  readonly params?: string
  readonly expression?: string
  readonly variables?: { readonly [name: string]: string }
}

/** Actions of admission plugins and webhooks, if the user may see them. */
export interface Admission {
  readonly looks: readonly Look[]
  readonly changes: readonly Look[]
  readonly refusedBy: string
  readonly warnings: readonly string[]
}

const noAdmission: Admission = { looks: [], changes: [], refusedBy: '', warnings: [] }

/** Matches fields that edits cannot set because the server or a subresource sets them. */
const ignored =
  /^\.(?:apiVersion|kind|status\b.*|metadata\.(?:managedFields|resourceVersion|uid|generation|creationTimestamp|deletionTimestamp|deletionGracePeriodSeconds|selfLink|name|namespace)\b.*)$/

function editedFields({ base, draft, schema }: Edit): FieldChange[] {
  return compareFields(asJson(base), draft, schema).filter(({ path }) => !ignored.test(pathText(path)))
}

/**
 * Builds the configuration to apply: changed fields and fields that the console already owns, except skipped fields.
 */
function configurationOf(edit: Edit, skippedFields: ReadonlySet<string>): JsonObject {
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
    if (after !== undefined && !isLeft(skippedFields, pathText(path)))
      setField(configuration, path, structuredClone(after))
  return configuration
}

/**
 * Whether a field, or a field within it, is skipped. Nested fields count because the server may report a conflict for
 * only part of a change.
 */
function isLeft(skippedFields: ReadonlySet<string>, field: string): boolean {
  return skippedFields.has(field) || [...skippedFields].some((each) => each.startsWith(field))
}

export interface Choice {
  /** Conflicting fields that the user chose to leave unchanged. */
  readonly left: ReadonlySet<string>
  /** Whether to take over ownership of all other conflicting fields. */
  readonly force: boolean
}

/** Dry-runs the edit and returns its effect. The server stores nothing. */
export async function reviewEdit(client: Client, edit: Edit, choice: Choice): Promise<Review> {
  const sent = await send(client, edit, { ...choice, dryRun: true })
  const { admission } = sent
  if (sent.error !== undefined) {
    const conflicts = conflictsIn(sent.error)
    const changes = editedFields(edit).filter(({ path }) => !isLeft(choice.left, pathText(path)))
    return { changes, conflicts, unchangedFields: [], error: conflicts.length > 0 ? undefined : sent.error, admission }
  }
  const result = asJson(sent.object!)
  const changes = compareFields(asJson(edit.base), result, edit.schema).filter(
    ({ path }) => !/^\.metadata\.(?:managedFields|resourceVersion|generation)\b/.test(pathText(path)),
  )
  const unchangedFields = editedFields(edit).filter(
    ({ path, after }) => after === undefined && valueAt(result, path) !== undefined,
  )
  return { changes, conflicts: [], unchangedFields, error: undefined, admission }
}

/** Writes the edit. `removing` lists other managers' fields that are also removed. */
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
  // Removes list elements from last to first, because each removal shifts the elements after it.
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

/** Reads the body of a response as JSON. */
export async function readBody({ body }: TransportResponse): Promise<Json> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return parseJson(text + decoder.decode()) as Json
}

/** Whether the server rejected only the request to explain admission, which requires its own permission. */
export function isExplanationRefused(error: unknown): boolean {
  return error instanceof StatusError && error.code === 403 && error.message.includes('admissionexplanations')
}

/** Parses the response headers that explain admission. */
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

/** Returns the field conflicts that a 409 response lists. */
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
