/** What a pod breaks of a level of the standard, under the rules of a release. */
import type { CheckedPod, Rule, Violation } from './check.ts'
import { allChecks } from './checks/all.ts'
import { type LevelVersion, levels, releaseOf } from './policy.ts'

export function violationsOf({ level, version }: LevelVersion, pod: CheckedPod): Violation[] {
  if (level === 'privileged') return []
  return rulesOf({ level, version }).flatMap((rule) => rule(pod) ?? [])
}

/** Every check of the level and of those below it, by the newest rule that the release had. */
function rulesOf({ level, version }: LevelVersion): Rule[] {
  const release = releaseOf(version) ?? Infinity
  return allChecks
    .filter((check) => levels.indexOf(check.level) <= levels.indexOf(level))
    .flatMap(({ rules }) => rules.findLast(({ since }) => since <= release)?.rule ?? [])
}

/** `host namespaces (hostNetwork=true), privileged (...)`. */
export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}

/** `host namespaces, privileged`. */
export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ')
}
