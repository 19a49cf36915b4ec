/**
 * Transforms all objects of a kustomization: sets their namespaces, names, labels, annotations, replicas and images.
 */

import { isObject, type Json, type JsonObject, own, setKey } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { changeAt, objectsAt, templatePath } from './fields.ts'
import { checkMembers, type Kustomization, labelsIn, textIn } from './kustomization.ts'
import { isNamespaced, type Resource } from './resource.ts'

export function setNamespace(resources: readonly Resource[], namespace: string): void {
  if (namespace === '') return
  for (const resource of resources) {
    if (resource.kind === 'Namespace') resource.rename(namespace)
    else if (isNamespaced(resource)) resource.move(namespace)
    if (resource.kind.endsWith('RoleBinding'))
      objectsAt(resource.object, 'subjects', {
        create: false,
        use: (subject) => {
          // For other service accounts, the namespace is set later, when the references are updated.
          if (own(subject, 'kind') === 'ServiceAccount' && own(subject, 'name') === 'default')
            setKey(subject, 'namespace', namespace)
        },
      })
    if (resource.kind === 'APIService') setIn(resource.object, 'spec/service', { namespace })
  }
}

/** Kinds whose object names have a meaning and therefore must not change. */
const keepsName = new Set(['CustomResourceDefinition', 'APIService', 'Namespace'])

export function renameAll(resources: readonly Resource[], { namePrefix, nameSuffix }: Kustomization): void {
  if (namePrefix === '' && nameSuffix === '') return
  for (const resource of resources)
    if (!keepsName.has(resource.kind)) resource.rename(`${namePrefix}${resource.identity.name}${nameSuffix}`)
}

interface Place {
  readonly path: string
  /** Whether to create maps on the path that are missing in the object. */
  readonly create: boolean
}

const affinities = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
  `affinity/${kind}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `affinity/${kind}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
])

/** Returns the paths to pod labels, and to the selectors that must match the labels. */
function selectorPlaces({ kind, group }: Resource): Place[] {
  const template = templatePath(kind)
  const createdPath = (path: string) => ({ path, create: true })
  const existingPath = (path: string) => ({ path, create: false })
  const places = template === undefined ? [] : [createdPath(`${template}/metadata/labels`)]
  if (kind === 'Service' && group === '') places.push(createdPath('spec/selector'))
  if (kind === 'ReplicationController') places.push(createdPath('spec/selector'))
  if (['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].includes(kind))
    places.push(createdPath('spec/selector/matchLabels'))
  if (kind === 'Deployment' || kind === 'StatefulSet')
    for (const path of [...affinities, 'topologySpreadConstraints/labelSelector/matchLabels'])
      places.push(existingPath(`spec/template/spec/${path}`))
  if (kind === 'StatefulSet') places.push(createdPath('spec/volumeClaimTemplates[]/metadata/labels'))
  if (kind === 'Job' || kind === 'PodDisruptionBudget') places.push(existingPath('spec/selector/matchLabels'))
  if (kind === 'CronJob')
    places.push(
      createdPath('spec/jobTemplate/metadata/labels'),
      existingPath('spec/jobTemplate/spec/selector/matchLabels'),
    )
  if (kind === 'NetworkPolicy')
    for (const path of ['podSelector', 'ingress/from/podSelector', 'egress/to/podSelector'])
      places.push(existingPath(`spec/${path}/matchLabels`))
  return places
}

export function addLabels(resources: readonly Resource[], kustomization: Kustomization): void {
  const common = labelsIn({ commonLabels: kustomization.commonLabels }, 'commonLabels', kustomization.file)
  setLabels(resources, common, { selectors: true, templates: true })
  for (const [i, entry] of kustomization.labels.entries()) {
    const place = `${kustomization.file}: labels[${i}]`
    checkMembers(entry, ['pairs', 'includeSelectors', 'includeTemplates'], place)
    setLabels(resources, labelsIn(entry, 'pairs', place), {
      selectors: own(entry, 'includeSelectors') === true,
      templates: own(entry, 'includeTemplates') === true,
    })
  }
}

function setLabels(
  resources: readonly Resource[],
  labels: JsonObject,
  { selectors, templates }: { selectors: boolean; templates: boolean },
): void {
  if (Object.keys(labels).length === 0) return
  for (const resource of resources) {
    setIn(resource.object, 'metadata/labels', labels)
    const template = templatePath(resource.kind)
    if (selectors) for (const place of selectorPlaces(resource)) setIn(resource.object, place, labels)
    else if (templates && template !== undefined) setIn(resource.object, `${template}/metadata/labels`, labels)
  }
}

export function addAnnotations(resources: readonly Resource[], { commonAnnotations, file }: Kustomization): void {
  const annotations = labelsIn({ commonAnnotations }, 'commonAnnotations', file)
  if (Object.keys(annotations).length === 0) return
  for (const { kind, object } of resources) {
    setIn(object, 'metadata/annotations', annotations)
    const template = templatePath(kind)
    if (template !== undefined) setIn(object, `${template}/metadata/annotations`, annotations)
    if (kind === 'CronJob') setIn(object, 'spec/jobTemplate/metadata/annotations', annotations)
  }
}

function setIn(object: JsonObject, place: string | Place, members: JsonObject): void {
  const { path, create } = typeof place === 'string' ? { path: place, create: true } : place
  const use = (parent: JsonObject) => {
    for (const [key, value] of Object.entries(members)) setKey(parent, key, value!)
  }
  objectsAt(object, path, { create, use })
}

const scalable = new Set(['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'])

export function setReplicas(resources: readonly Resource[], { replicas, file }: Kustomization): void {
  for (const [i, entry] of replicas.entries()) {
    const place = `${file}: replicas[${i}]`
    checkMembers(entry, ['name', 'count'], place)
    const name = textIn(entry, 'name', place)
    const count = own(entry, 'count')
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0)
      throw new UsageError(`${place}.count is not a valid number of replicas`)
    const matchingResources = resources.filter(
      (resource) => scalable.has(resource.kind) && resource.identities.some((one) => one.name === name),
    )
    if (matchingResources.length === 0)
      throw new UsageError(`${place}: no object with replicas is named ${JSON.stringify(name)}`)
    for (const { object } of matchingResources) setIn(object, 'spec', { replicas: count })
  }
}

export function setImages(resources: readonly Resource[], { images, file }: Kustomization): void {
  for (const [i, entry] of images.entries()) {
    const place = `${file}: images[${i}]`
    checkMembers(entry, ['name', 'newName', 'newTag', 'digest'], place)
    const newImage = {
      name: textIn(entry, 'name', place),
      newName: textIn(entry, 'newName', place),
      newTag: textIn(entry, 'newTag', place),
      digest: textIn(entry, 'digest', place),
    }
    for (const { kind, object } of resources)
      if (kind !== 'CustomResourceDefinition') inContainers(object, (image) => imageOf(image, newImage))
  }
}

/** Custom kinds may have containers at any path. */
function inContainers(value: Json | undefined, change: (image: string) => string | undefined): void {
  if (Array.isArray(value)) for (const item of value) inContainers(item, change)
  if (!isObject(value)) return
  for (const [key, member] of Object.entries(value)) {
    if (key === 'containers' || key === 'initContainers')
      changeAt(value, `${key}/image`, (image) => (typeof image === 'string' ? change(image) : undefined))
    inContainers(member, change)
  }
}

interface Image {
  readonly name: string
  readonly newName: string
  readonly newTag: string
  readonly digest: string
}

/** A colon before the last slash belongs to a port number, not to a tag. */
function imageOf(image: string, { name, newName, newTag, digest }: Image): string | undefined {
  const [, before = '', rest = ''] = /^(.*?)((?::[\w.{}-]*)?(?:@sha256:[\da-f]*)?)$/s.exec(image) ?? []
  if (before !== name) return undefined
  const version = digest !== '' ? `@${digest}` : newTag !== '' ? `:${newTag}` : rest
  return `${newName || name}${version}`
}
