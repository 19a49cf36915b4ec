/**
 * Server-side apply. The field manager is `orchctl` unless a flag sets it. With the default manager, fields recorded by
 * client-side apply cause no conflict, because the server takes them over (spec: apply, rule 9). Afterwards, the
 * command changes the ownership of those fields so that `orchctl` is their only owner.
 */
import { isObject, type JsonObject, own, setKey } from '../../../../api/json/json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../../../../api/model/object.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { fieldValidation, requestOptions } from '../../changes/report-write.ts'
import type { Session } from '../../connection/session.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import type { ApplyOptions } from './options.ts'

export const defaultManager = 'orchctl'

export async function serverSideApply(
  session: Session,
  { type, name, object }: Subject & Manifest,
  options: ApplyOptions,
): Promise<{ object: ApiObject; done: string }> {
  const apply = () =>
    session.client.patch(type, name, {
      fieldManager: defaultManager,
      ...requestOptions(session, options),
      fieldValidation: fieldValidation(options.validate),
      patch: { apply: object, ...(options.forceConflicts ? { force: true } : {}) },
    })
  const applied = await apply()
  const moved = options.dryRun === 'none' && options.fieldManager === '' ? takenOver(applied) : undefined
  if (moved === undefined) return { object: applied, done: 'serverside-applied' }
  await moveOwnership(session, { type, name }, { applied, moved })
  return { object: await apply(), done: 'serverside-applied' }
}

/**
 * Field managers of client-side apply. As long as one of them co-owns a field, removing the field from the file does
 * not delete it from the object.
 */
const formerManagers = new Set(['orchctl-client-side-apply', 'kubectl-client-side-apply'])

/**
 * Returns managed fields in which orchctl owns all fields that client-side applies owned, and the former managers own
 * none of them. Returns undefined if there is nothing to change. Omits the last-applied annotation, which the server
 * maintains.
 */
function takenOver({ metadata }: ApiObject): ManagedFieldsEntry[] | undefined {
  const entries = metadata.managedFields ?? []
  const isFormer = ({ manager = '', operation, subresource }: ManagedFieldsEntry) =>
    formerManagers.has(manager) && operation === 'Update' && !subresource
  const former = entries.filter(isFormer)
  const own = entries.find(({ manager, operation }) => manager === defaultManager && operation === 'Apply')
  if (former.length === 0 || own === undefined) return undefined
  const fields = former.reduce(
    (union, { fieldsV1 }) => unionOf(union, withoutRecord(fieldsV1 ?? {})),
    own.fieldsV1 ?? {},
  )
  return entries
    .filter((entry) => !isFormer(entry))
    .map((entry) => (entry === own ? { ...own, fieldsV1: fields } : entry))
}

function unionOf(a: JsonObject, b: JsonObject): JsonObject {
  const union: JsonObject = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const other = own(union, key)
    setKey(union, key, isObject(other) && isObject(value) ? unionOf(other, value) : (value ?? {}))
  }
  return union
}

/**
 * Removes the annotation from a set of fields. Also removes the annotations map itself (`.`): if an owner of the map
 * applies no annotations, the server removes the map together with the last-applied annotation. In this format,
 * `{"f:annotations": {}}` means ownership of the map, so an empty entry is also removed.
 */
function withoutRecord({ 'f:metadata': metadata, ...fields }: JsonObject): JsonObject {
  if (!isObject(metadata)) return fields
  const { 'f:annotations': annotations, ...others } = metadata
  const remainingAnnotations = Object.entries(isObject(annotations) ? annotations : {}).filter(
    ([key]) => key !== '.' && !key.endsWith('/last-applied-configuration'),
  )
  const remainingMetadata =
    remainingAnnotations.length === 0
      ? others
      : { ...others, 'f:annotations': Object.fromEntries(remainingAnnotations) }
  return Object.keys(remainingMetadata).length === 0 ? fields : { ...fields, 'f:metadata': remainingMetadata }
}

/**
 * Writes the new ownership. Requires an unchanged resourceVersion, because the managed fields must describe the current
 * object.
 */
async function moveOwnership(
  session: Session,
  { type, name }: Subject,
  { applied, moved }: { applied: ApiObject; moved: ManagedFieldsEntry[] },
): Promise<void> {
  const version = applied.metadata.resourceVersion
  await session.client.patch(type, name, {
    signal: session.context.signal,
    patch: {
      json: [
        { op: 'replace', path: '/metadata/managedFields', value: moved },
        { op: 'replace', path: '/metadata/resourceVersion', value: version },
      ],
    },
  })
}
