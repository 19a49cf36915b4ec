/**
 * Volume sources whose files come from objects: ConfigMaps, Secrets, the pod, service account tokens, or a combination.
 */

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
import { certificateFiles, podCertificateProjection, trustBundleProjection } from './projected-certificates.ts'
import { checkTokenLife } from './token-life.ts'

const keyToPathFields = {
  key: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'Key to project into a file.' }),
  path: field(2, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Path of the file, relative to the root of the volume. Must not contain `..`.',
  }),
  mode: field(3, s.int32(), {
    zeroValue: 'keep',
    doc: "Permission bits of the file, from 0 to 0777 octal. Defaults to the volume's `defaultMode`.",
  }),
}

const keyToPath = s.object(keyToPathFields, {
  name: 'KeyToPath',
  doc: 'Maps a key to a file in the volume.',
  check: ({ path: file = '', mode }, path) => [
    ...checkFilePath(file, child(path, 'path')),
    ...checkMode(mode, child(path, 'mode')),
  ],
})

const mode = (tag: number) =>
  field(tag, s.int32(), {
    zeroValue: 'keep',
    default: 0o644,
    doc: 'Permission bits for files that do not specify a mode, from 0 to 0777 octal. Defaults to 0644 octal.',
  })
const optional = (tag: number) =>
  field(tag, s.boolean(), { zeroValue: 'keep', doc: 'Whether the object or the selected keys may be missing.' })
const items = field(2, s.list(keyToPath), {
  doc: 'Keys to project, and the paths of their files. If unset, every key is projected to a file of the same name.',
})

export const secretVolume = s.object(
  {
    secretName: field(1, s.string(), { required: true, published: 'optional', doc: 'Name of the Secret. Required.' }),
    items,
    defaultMode: mode(3),
    optional: optional(4),
  },
  { name: 'SecretVolumeSource', doc: 'A Secret whose keys become files in a volume.', check: checkDefaultMode },
)

const reference = { name: { ...inlinedReference.name, required: true, published: 'optional' as const } }

export const configMapVolume = s.object(
  { ...reference, items, defaultMode: mode(3), optional: optional(4) },
  { name: 'ConfigMapVolumeSource', doc: 'A ConfigMap whose keys become files in a volume.', check: checkDefaultMode },
)

const fileFields = {
  path: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Path of the file, relative to the root of the volume. Must not contain `..`.',
  }),
  fieldRef: field(2, objectFieldSelector, { doc: 'Pod field whose value is written to the file.' }),
  resourceFieldRef: field(3, resourceFieldSelector, {
    doc: 'Resource request or limit whose value is written to the file.',
  }),
  mode: field(4, s.int32(), {
    zeroValue: 'keep',
    doc: "Permission bits of the file, from 0 to 0777 octal. Defaults to the volume's `defaultMode`.",
  }),
}

type DownwardFile = InferFields<typeof fileFields>

const downwardFile = s.object(fileFields, {
  name: 'DownwardAPIVolumeFile',
  doc: 'A file that contains the value of a pod field or a container resource. Either `fieldRef` or `resourceFieldRef` must be set.',
})

export const downwardVolume = s.object(
  {
    items: field(1, s.list(downwardFile), { doc: 'Files to create from pod fields and container resources.' }),
    defaultMode: mode(2),
  },
  {
    name: 'DownwardAPIVolumeSource',
    doc: 'Pod fields and container resources that become files in a volume.',
    check: (value, path) => [...checkDefaultMode(value, path), ...checkDownwardFiles(value.items, path)],
  },
)

const secretProjection = s.object(
  { ...reference, items, optional: optional(4) },
  { name: 'SecretProjection', doc: 'A Secret whose keys become files in a projected volume.' },
)

const configMapProjection = s.object(
  { ...reference, items, optional: optional(4) },
  { name: 'ConfigMapProjection', doc: 'A ConfigMap whose keys become files in a projected volume.' },
)

const downwardProjection = s.object(
  { items: field(1, s.list(downwardFile), { doc: 'Files to create from pod fields and container resources.' }) },
  {
    name: 'DownwardAPIProjection',
    doc: 'Pod fields and container resources that become files in a projected volume.',
    check: (value, path) => checkDownwardFiles(value.items, path),
  },
)

const tokenFields = {
  audience: field(1, s.string(), { doc: 'Intended audience of the token. Defaults to the API server.' }),
  expirationSeconds: field(2, s.int64(), {
    zeroValue: 'keep',
    default: 3600,
    doc: 'Lifetime of the token in seconds. Must be at least 600. Defaults to 3600.',
  }),
  path: field(3, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Path of the token file, relative to the root of the volume. Required.',
  }),
}

const tokenProjection = s.object(tokenFields, {
  name: 'ServiceAccountTokenProjection',
  doc: "A token for the pod's service account in a projected volume. The node agent renews the token before it expires.",
  check: ({ expirationSeconds }, path) => checkTokenLife(expirationSeconds, child(path, 'expirationSeconds')),
})

const projectionFields = {
  secret: field(1, secretProjection, { doc: 'Secret whose keys become files in the volume.' }),
  downwardAPI: field(2, downwardProjection, { doc: 'Pod fields and container resources to project.' }),
  configMap: field(3, configMapProjection, { doc: 'ConfigMap whose keys become files in the volume.' }),
  serviceAccountToken: field(4, tokenProjection, { doc: 'Service account token to project.' }),
  clusterTrustBundle: field(5, trustBundleProjection, {
    since: '1.29',
    gate: 'ClusterTrustBundleProjection',
    doc: 'ClusterTrustBundles to project.',
  }),
  podCertificate: field(6, podCertificateProjection, {
    since: '1.34',
    gate: 'PodCertificateRequest',
    doc: 'Pod certificate to project.',
  }),
}

const projection = s.object(projectionFields, {
  name: 'VolumeProjection',
  doc: 'A source of files for a projected volume. At most one field may be set.',
  check: (value, path) =>
    Object.keys(value).length > 1 ? [forbidden(path, 'may not specify more than 1 volume type')] : [],
})

const projectedFields = {
  sources: field(1, s.list(projection), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Sources of the files in the volume.',
  }),
  defaultMode: mode(2),
}

export const projectedVolume = s.object(projectedFields, {
  name: 'ProjectedVolumeSource',
  doc: 'Combines files from several sources in one volume.',
  check: (value, path) => [...checkDefaultMode(value, path), ...checkCollisions(value, path)],
})

function checkMode(value: number | undefined, path: FieldPath): FieldError[] {
  if (value === undefined || (value >= 0 && value <= 0o777)) return []
  return [invalid(path, value, 'must be a number between 0 and 0777 (octal), both inclusive')]
}

function checkDefaultMode({ defaultMode }: { defaultMode?: number }, path: FieldPath): FieldError[] {
  return checkMode(defaultMode, child(path, 'defaultMode'))
}

/**
 * Validates the files of the downward API. Errors are reported for the source instead of the item, as clients expect.
 */
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
    ...(resourceFieldRef ? [invalid(path, 'resource', 'fieldRef and resourceFieldRef are mutually exclusive')] : []),
  ]
}

/** Rejects two sources that write the same file. */
function checkCollisions({ sources = [] }: InferFields<typeof projectedFields>, path: FieldPath): FieldError[] {
  const seenPaths = new Set<string>()
  const errors: FieldError[] = []
  for (const file of sources.flatMap(filesOf)) {
    if (seenPaths.has(file)) errors.push(invalid(path, file, 'conflicting duplicate paths'))
    seenPaths.add(file)
  }
  return errors
}

function filesOf(source: InferFields<typeof projectionFields>): string[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const named = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])]
  return [
    ...named.map(({ path = '' }) => path),
    serviceAccountToken?.path ?? '',
    clusterTrustBundle?.path ?? '',
    ...certificateFiles(podCertificate ?? {}),
  ].filter((path) => path !== '')
}
