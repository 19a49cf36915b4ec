/**
 * Defines which workloads `orchctl rollout` supports (Deployments, DaemonSets and StatefulSets), and the flags for
 * selecting them.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { flag, type OptionsOf, text } from '../../../../base/flags/flags.ts'
import { typeName } from '../../../../client/requests/resource-type.ts'
import { fileFlags, findSubjects, type Subject } from '../../arguments/subjects.ts'
import type { Session } from '../../connection/session.ts'

export const workloadFlags = {
  ...fileFlags,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: "label selector, such as app=web,tier!=cache or 'env in (dev,test)'",
  }),
}

/** A Deployment, DaemonSet or StatefulSet, with the fields that `orchctl rollout` uses. */
export interface Workload extends ApiObject {
  spec?: {
    replicas?: number
    paused?: boolean
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } }
    template?: Template
  }
  status?: WorkloadStatus
}

export interface WorkloadStatus {
  observedGeneration?: number
  replicas?: number
  updatedReplicas?: number
  availableReplicas?: number
  readyReplicas?: number
  currentReplicas?: number
  currentRevision?: string
  updateRevision?: string
  desiredNumberScheduled?: number
  updatedNumberScheduled?: number
  numberAvailable?: number
  conditions?: { type?: string; reason?: string }[]
}

export interface Template {
  metadata?: { labels?: { [key: string]: string }; annotations?: { [key: string]: string } }
  spec?: object
}

/** Returns the kind if it supports rollouts, otherwise undefined. */
export function rolloutKind({ type }: Subject): 'Deployment' | 'DaemonSet' | 'StatefulSet' | undefined {
  if (type.group !== 'apps') return undefined
  return (['Deployment', 'DaemonSet', 'StatefulSet'] as const).find((kind) => kind === type.kind)
}

/** Returns the display name of an object for error messages, for example `deployments.apps "web"`. */
export function called({ type, name }: Subject): string {
  return `${typeName(type)} ${JSON.stringify(name.name)}`
}

/** Returns the options for finding workloads. A type without a name or selector selects all objects of the type. */
export function allOfType(
  words: readonly string[],
  options: Omit<OptionsOf<typeof workloadFlags>, 'kustomize'>,
): Parameters<typeof findSubjects>[2] {
  const isTypeAlone = words.length === 1 && !words[0]!.includes('/')
  return { ...options, all: isTypeAlone && options.selector === '', fieldSelector: '', allNamespaces: false }
}

export async function findWorkloads(
  session: Session,
  words: readonly string[],
  options: OptionsOf<typeof workloadFlags>,
): Promise<Subject[]> {
  return await findSubjects(session, words, allOfType(words, options))
}
