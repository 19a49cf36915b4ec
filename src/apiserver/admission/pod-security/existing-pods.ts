/**
 * Warns about existing pods that would violate the stricter security level that is about to apply to their namespace.
 * The pods themselves are not affected. The check covers only the first pods and takes only a limited time, so that
 * labeling a namespace stays fast.
 */

import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { reasonsOf, violationsOf } from './evaluate.ts'
import { type LevelVersion, levelText } from './policy.ts'

const maxPods = 3000
const maxMs = 1000

interface Search {
  readonly lookup: Lookup
  readonly vendor: Vendor
  readonly newestRelease: number
  readonly namespace: string
  readonly level: LevelVersion
  readonly exemptRuntimeClasses: ReadonlySet<string>
}

/** Returns the warnings, which consist of a heading and the violations. The list is empty if all pods comply. */
export async function warningsOfExisting(search: Search): Promise<string[]> {
  const { namespace, level } = search
  const { groups, checkedPods, all } = await findViolating(search)
  const partly =
    checkedPods === all
      ? []
      : [`new PodSecurity enforce level only checked against the first ${checkedPods} of ${all} existing pods`]
  if (groups.size === 0) return partly
  const head = `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(levelText(level))}`
  return [...partly, head, ...[...groups].map(groupText).sort()]
}

/** Existing pods with the same violations: the name of the first pod, and the number of pods. */
interface Group {
  readonly first: string
  count: number
}

async function findViolating({ lookup, vendor, newestRelease, namespace, level, exemptRuntimeClasses }: Search) {
  const groups = new Map<string, Group>()
  const names = [...lookup.names(pods, namespace)].map(({ name }) => name)
  const timeSlice = new TimeSlice()
  const began = performance.now()
  let checkedPods = 0
  for (; checkedPods < Math.min(names.length, maxPods) && performance.now() - began < maxMs; checkedPods++) {
    await timeSlice.yieldIfDue()
    const name = names[checkedPods]!
    const pod = lookup.readUncached(pods, { namespace, name })
    if (pod === undefined || exemptRuntimeClasses.has(pod.spec?.runtimeClassName ?? '')) continue
    const annotations = pod.metadata.annotations ?? {}
    const reasons = reasonsOf(violationsOf(level, { vendor, newestRelease, annotations, spec: pod.spec ?? {} }))
    const group = groups.get(reasons)
    if (group !== undefined) group.count++
    else if (reasons !== '') groups.set(reasons, { first: name, count: 1 })
  }
  return { groups, checkedPods, all: names.length }
}

function groupText([reasons, { first, count }]: [string, Group]): string {
  if (count === 1) return `${first}: ${reasons}`
  return `${first} (and ${count - 1} other pod${count === 2 ? '' : 's'}): ${reasons}`
}
