/**
 * Shows an error: the server's message and, if a permission is missing, also the reason and a rule that would allow the
 * action.
 */

import { useState } from 'preact/hooks'
import { messageOf } from '../../../../base/text/errors.ts'
import { StatusError } from '../../../../client/library/client-browser.ts'
import { type Action, actionRefused, type Explanation, explainAccess, type Rule } from '../core/access.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { displayText } from '../core/text.ts'
import { Notice } from './display.tsx'

export function Failure({ error }: { readonly error: unknown }) {
  if (error instanceof StatusError && error.code === 403) return <Refusal error={error} />
  const message = messageOf(error)
  return (
    <Notice tone="bad" title={error instanceof StatusError ? titleOf(error) : 'No answer'}>
      {displayText(message)}
    </Notice>
  )
}

function titleOf({ code, reason }: StatusError): string {
  return reason === '' ? `The server answered with ${code}` : `${reason} (${code})`
}

function Refusal({ error }: { readonly error: StatusError }) {
  const consoleContext = useConsoleContext()
  // Only missing permissions can be explained by rules. Admission errors contain their own reason.
  const action = actionRefused(error)
  const [why, setWhy] = useState<Explanation | { readonly failed: unknown } | undefined>()
  const explain = async (deniedAction: Action) =>
    setWhy(await explainAccess(consoleContext, { action: deniedAction }).catch((failed: unknown) => ({ failed })))
  return (
    <Notice tone="warn" title="You may not do this">
      <p>{displayText(error.message)}</p>
      {action !== undefined && why === undefined && (
        <button type="button" onClick={() => void explain(action)}>
          Why?
        </button>
      )}
      {why !== undefined && ('failed' in why ? <Failure error={why.failed} /> : <Why explanation={why} />)}
    </Notice>
  )
}

/** Shows why access is denied: the smallest rule that would allow the action, and the closest existing rules. */
export function Why({ explanation }: { readonly explanation: Explanation }) {
  const { allowed, reason = '', nearRules = [], smallestRule, byOwnRules = false } = explanation
  return (
    <div class="why">
      <p>
        <strong>{allowed ? 'Allowed' : 'Not allowed'}</strong>
        {reason !== '' && `: ${displayText(reason)}`}
      </p>
      {smallestRule !== undefined && !allowed && (
        <>
          <p class="why-title">The smallest rule that would allow it</p>
          <pre>{ruleText(smallestRule)}</pre>
        </>
      )}
      {nearRules.length > 0 && (
        <>
          <p class="why-title">{byOwnRules ? 'Your rules that come nearest' : 'Rules that come nearest'}</p>
          <ul>
            {nearRules.map(({ rule, role = '', binding = '', lacks = [] }) => (
              <li key={`${role} ${binding} ${ruleText(rule)}`}>
                <code>{ruleText(rule)}</code>
                {role !== '' && ` of ${displayText(role, 200)} by ${displayText(binding, 200)}`}
                {lacks.length > 0 && `: it lacks ${lacks.map((each) => displayText(each, 50)).join(', ')}`}
              </li>
            ))}
          </ul>
        </>
      )}
      {byOwnRules && !allowed && (
        <p>
          {nearRules.length === 0 && 'None of your rules comes near. '}
          Ask an administrator for the smallest rule. Which roles your rules come from is shown to users who may create
          accessexplanations.
        </p>
      )}
    </div>
  )
}

function ruleText(rule: Rule = {}): string {
  const list = (words: readonly string[] = []) => words.map((word) => displayText(word, 200) || '""').join(', ')
  const parts = [
    `verbs: [${list(rule.verbs)}]`,
    ...(rule.apiGroups ? [`apiGroups: [${list(rule.apiGroups)}]`] : []),
    ...(rule.resources ? [`resources: [${list(rule.resources)}]`] : []),
    ...(rule.resourceNames ? [`resourceNames: [${list(rule.resourceNames)}]`] : []),
    ...(rule.nonResourceURLs ? [`nonResourceURLs: [${list(rule.nonResourceURLs)}]`] : []),
  ]
  return parts.join(' ')
}
