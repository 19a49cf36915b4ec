/** Sources of volumes whose files come from objects: ConfigMaps, Secrets, the pod itself, tokens, or all together. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import {
  checkFieldSelector,
  checkResourceSelector,
  fieldsForVolumes,
  objectFieldSelector,
  resourceFieldSelector,
} from './downward.ts'
import { checkFilePath } from './file-paths.ts'
import { inlinedReference } from './local-references.ts'
import { checkTokenLife } from './token-life.ts'

const keyToPathFields = {
  key: field(1, s.string(), { zero: 'write', required: true, doc: 'The key.' }),
  path: field(2, s.string(), {
    zero: 'write',
    required: true,
    doc: 'The path of the file in the volume, without dots that lead up.',
  }),
  mode: field(3, s.int32(), { zero: 'keep', doc: 'The rights of the file; those of the volume if unset.' }),
}

const keyToPath = s.object(keyToPathFields, {
  name: 'KeyToPath',
  doc: 'The file that a key becomes.',
  check: ({ path: file = '', mode }, path) => [
    ...checkFilePath(file, child(path, 'path')),
    ...checkMode(mode, child(path, 'mode')),
  ],
})

const mode = (tag: number) =>
  field(tag, s.int32(), { zero: 'keep', default: 0o644, doc: 'The rights of files that say nothing else.' })
const optional = (tag: number) =>
  field(tag, s.boolean(), { zero: 'keep', doc: 'Whether it, or its keys, may be missing.' })
const items = field(2, s.list(keyToPath), {
  doc: 'The keys to take, and their files; all, under their own names, if unset.',
})

export const secretVolume = s.object(
  {
    secretName: field(1, s.string(), { required: true, published: 'optional', doc: 'The name of the Secret.' }),
    items,
    defaultMode: mode(3),
    optional: optional(4),
  },
  { name: 'SecretVolumeSource', doc: 'The keys of a Secret as files.', check: checkDefaultMode },
)

const reference = { name: { ...inlinedReference.name, required: true, published: 'optional' as const } }

export const configMapVolume = s.object(
  { ...reference, items, defaultMode: mode(3), optional: optional(4) },
  { name: 'ConfigMapVolumeSource', doc: 'The keys of a ConfigMap as files.', check: checkDefaultMode },
)

const fileFields = {
  path: field(1, s.string(), { zero: 'write', doc: 'The path of the file in the volume, without dots that lead up.' }),
  fieldRef: field(2, objectFieldSelector, { doc: 'A field of the pod.' }),
  resourceFieldRef: field(3, resourceFieldSelector, { doc: 'A resource of a container.' }),
  mode: field(4, s.int32(), { zero: 'keep', doc: 'The rights of the file; those of the volume if unset.' }),
}

type DownwardFile = InferFields<typeof fileFields>

const downwardFile = s.object(fileFields, {
  name: 'DownwardAPIVolumeFile',
  doc: 'A file with a field of the pod or a resource of one of its containers.',
})

export const downwardVolume = s.object(
  { items: field(1, s.list(downwardFile), { doc: 'The files.' }), defaultMode: mode(2) },
  {
    name: 'DownwardAPIVolumeSource',
    doc: 'Fields of the pod as files.',
    check: (value, path) => [...checkDefaultMode(value, path), ...checkDownwardFiles(value.items, path)],
  },
)

const secretProjection = s.object(
  { ...reference, items, optional: optional(4) },
  { name: 'SecretProjection', doc: 'The keys of a Secret, as part of a volume.' },
)

const configMapProjection = s.object(
  { ...reference, items, optional: optional(4) },
  { name: 'ConfigMapProjection', doc: 'The keys of a ConfigMap, as part of a volume.' },
)

const downwardProjection = s.object(
  { items: field(1, s.list(downwardFile), { doc: 'The files.' }) },
  {
    name: 'DownwardAPIProjection',
    doc: 'Fields of the pod, as part of a volume.',
    check: (value, path) => checkDownwardFiles(value.items, path),
  },
)

const tokenFields = {
  audience: field(1, s.string(), { doc: 'The audience of the token; the API server if unset.' }),
  expirationSeconds: field(2, s.int64(), {
    zero: 'keep',
    default: 3600,
    doc: 'How long the token is valid; at least 600.',
  }),
  path: field(3, s.string(), { zero: 'write', required: true, doc: 'The path of the file in the volume.' }),
}

const tokenProjection = s.object(tokenFields, {
  name: 'ServiceAccountTokenProjection',
  doc: 'A token of the service account of the pod, renewed before it expires.',
  check: ({ expirationSeconds }, path) => checkTokenLife(expirationSeconds, child(path, 'expirationSeconds')),
})

const projectionFields = {
  secret: field(1, secretProjection, { doc: 'Keys of a Secret.' }),
  downwardAPI: field(2, downwardProjection, { doc: 'Fields of the pod.' }),
  configMap: field(3, configMapProjection, { doc: 'Keys of a ConfigMap.' }),
  serviceAccountToken: field(4, tokenProjection, { doc: 'A token of the service account.' }),
}

const projection = s.object(projectionFields, {
  name: 'VolumeProjection',
  doc: 'One of the sources of a projected volume.',
  check: (value, path) =>
    Object.keys(value).length > 1 ? [forbidden(path, 'may not specify more than 1 volume type')] : [],
})

const projectedFields = {
  sources: field(1, s.list(projection), { zero: 'write', published: 'optional', doc: 'What the files come from.' }),
  defaultMode: mode(2),
}

export const projectedVolume = s.object(projectedFields, {
  name: 'ProjectedVolumeSource',
  doc: 'Files from several sources in one volume.',
  check: (value, path) => [...checkDefaultMode(value, path), ...checkCollisions(value, path)],
})

function checkMode(value: number | undefined, path: FieldPath): FieldError[] {
  if (value === undefined || (value >= 0 && value <= 0o777)) return []
  return [invalid(path, value, 'must be a number between 0 and 0777 (octal), both inclusive')]
}

function checkDefaultMode({ defaultMode }: { defaultMode?: number }, path: FieldPath): FieldError[] {
  return checkMode(defaultMode, child(path, 'defaultMode'))
}

/** Faults name the source, not the item, as clients are used to. */
function checkDownwardFiles(files: readonly DownwardFile[] = [], path: FieldPath): FieldError[] {
  return files.flatMap((file) => checkDownwardFile(file, path))
}

function checkDownwardFile({ path: file = '', fieldRef, resourceFieldRef, mode }: DownwardFile, path: FieldPath) {
  const place = child(path, 'path')
  return [
    ...(file === '' ? [required(place)] : checkFilePath(file, place)),
    ...checkDownwardSource({ fieldRef, resourceFieldRef }, path),
    ...checkMode(mode, child(path, 'mode')),
  ]
}

function checkDownwardSource(
  { fieldRef, resourceFieldRef }: { [name in 'fieldRef' | 'resourceFieldRef']: DownwardFile[name] | undefined },
  path: FieldPath,
): FieldError[] {
  if (fieldRef === undefined)
    return resourceFieldRef === undefined
      ? [required(path, 'one of fieldRef and resourceFieldRef is required')]
      : checkResourceSelector(resourceFieldRef, true, child(path, 'resourceFieldRef'))
  return [
    ...checkFieldSelector(fieldRef, fieldsForVolumes, child(path, 'fieldRef')),
    ...(resourceFieldRef ? [invalid(path, 'resource', 'fieldRef and resourceFieldRef exclude each other')] : []),
  ]
}

/** Two sources may not make the same file. */
function checkCollisions({ sources = [] }: InferFields<typeof projectedFields>, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  const errors: FieldError[] = []
  for (const file of sources.flatMap(filesOf)) {
    if (seen.has(file)) errors.push(invalid(path, file, 'conflicting duplicate paths'))
    seen.add(file)
  }
  return errors
}

function filesOf({ secret, configMap, downwardAPI, serviceAccountToken }: InferFields<typeof projectionFields>) {
  const named = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])]
  return [...named.map(({ path = '' }) => path), serviceAccountToken?.path ?? ''].filter((path) => path !== '')
}
