/** Describes the volumes of pods and the sources of persistent volumes: the type of each source and its parameters. */

import { isObject, type JsonObject, own } from '../../../../api/json/json.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { lines } from './parts.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** Describes the volume types for which a plain list of the fields is not enough. */
const shownOf: { readonly [type: string]: (source: JsonObject) => { [title: string]: string } } = {
  configMap: (source) => ({ Name: text(source, 'name'), Optional: text(source, 'optional', 'false') }),
  secret: (source) => ({ SecretName: text(source, 'secretName'), Optional: text(source, 'optional', 'false') }),
  persistentVolumeClaim: (source) => ({
    ClaimName: text(source, 'claimName'),
    ReadOnly: text(source, 'readOnly', 'false'),
  }),
  emptyDir: (source) => ({ Medium: text(source, 'medium'), SizeLimit: text(source, 'sizeLimit', '<unset>') }),
  hostPath: (source) => ({ Path: text(source, 'path'), HostPathType: text(source, 'type') }),
  nfs: (source) => ({
    Server: text(source, 'server'),
    Path: text(source, 'path'),
    ReadOnly: text(source, 'readOnly', 'false'),
  }),
  projected: projectedFields,
}

const titles: { readonly [type: string]: string } = { nfs: 'NFS', csi: 'CSI', iscsi: 'ISCSI', rbd: 'RBD', fc: 'FC' }

/** Describes the volumes of a pod. `lead` is the indentation of the title. */
export function volumesText(volumes: readonly Volume[] | undefined, lead = ''): string {
  if (volumes === undefined || volumes.length === 0) return `${lead}Volumes:\t<none>\n`
  const step = lead === '' ? '  ' : '   '
  const texts = volumes.map(({ name, ...source }) => `${step}${name}:\n${sourceText(source)}`)
  return `${lead}Volumes:\n${texts.join('')}`
}

/** Describes the volume source of a PersistentVolume. */
export function sourceText(sources: JsonObject): string {
  const [type = 'emptyDir', source = {}] = Object.entries(sources).find(([, value]) => isObject(value)) ?? []
  const title = titles[type] ?? `${type[0]!.toUpperCase()}${type.slice(1)}`
  return lines({ Type: title, ...(shownOf[type] ?? plainFields)(source as JsonObject) }, '    ')
}

function plainFields(source: JsonObject): { [title: string]: string } {
  const plain = Object.entries(source).filter(([, value]) => typeof value !== 'object')
  return Object.fromEntries(plain.map(([key, value]) => [`${key[0]!.toUpperCase()}${key.slice(1)}`, String(value)]))
}

function text(source: JsonObject, field: string, otherwise = ''): string {
  return String(own(source, field) ?? otherwise)
}

/**
 * Writes one or two lines for each source, as kubectl does. If several sources have the same type, lists all of them.
 */
function projectedFields(source: JsonObject): { [title: string]: string } {
  const projectedSources: { [title: string]: string } = {}
  const add = (title: string, value: string) => {
    projectedSources[title] = Object.hasOwn(projectedSources, title) ? `${projectedSources[title]}, ${value}` : value
  }
  const sources = own(source, 'sources')
  for (const each of Array.isArray(sources) ? sources : [])
    for (const [type, detail] of Object.entries(isObject(each) ? each : {})) {
      const sourceFields = isObject(detail) ? detail : {}
      if (type === 'downwardAPI') add('DownwardAPI', 'true')
      else if (type === 'serviceAccountToken') {
        add('TokenExpirationSeconds', text(sourceFields, 'expirationSeconds', '3600'))
        if (text(sourceFields, 'audience') !== '') add('TokenAudience', text(sourceFields, 'audience'))
      } else {
        const title = type === 'configMap' ? 'ConfigMap' : 'Secret'
        add(`${title}Name`, text(sourceFields, 'name'))
        add(`${title}Optional`, text(sourceFields, 'optional', 'false'))
      }
    }
  return projectedSources
}
