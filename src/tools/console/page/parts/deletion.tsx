/** Shows what a deletion is waiting for: finalizers, and objects that must be deleted first. */
import { useConsoleContext } from '../core/kinds.ts'
import { objectAddress } from '../core/route.ts'
import { displayText } from '../core/text.ts'
import { Age, Chip } from './display.tsx'

export interface Dependent {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly blocks?: boolean
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
}

export interface DeletionStatus {
  readonly deleting: boolean
  readonly since?: string
  readonly reasons?: readonly { readonly finalizer?: string; readonly message?: string }[]
  readonly dependents?: readonly Dependent[]
  readonly dependentCount?: number
  readonly hiddenTypes?: readonly string[]
}

export function DeletionWaits({ status }: { readonly status: DeletionStatus }) {
  const { since, reasons = [], dependents = [], hiddenTypes = [] } = status
  const blocking = dependents.filter(({ blocks }) => blocks)
  return (
    <>
      <p>
        It has waited for <Age since={since} />:
      </p>
      <ul class="plain-list">
        {reasons.map(({ finalizer = '', message = '' }) => (
          <li key={`${finalizer} ${message}`}>
            {finalizer !== '' && <Chip tone="warn">{displayText(finalizer, 200)}</Chip>} {displayText(message, 1000)}
          </li>
        ))}
        {reasons.length === 0 && <li>The server knows of nothing that it waits for: it should be gone soon.</li>}
      </ul>
      {blocking.length > 0 && (
        <>
          <h3>Objects that must go first</h3>
          <ul class="plain-list">
            {blocking.slice(0, 20).map((each) => (
              <li key={`${each.kind} ${each.namespace} ${each.name}`}>
                <DependentLink dependent={each} />{' '}
                {(each.finalizers ?? []).map((one) => displayText(one, 100)).join(', ')}
              </li>
            ))}
          </ul>
        </>
      )}
      {hiddenTypes.length > 0 && (
        <p class="hint">
          You may not list {hiddenTypes.map((each) => displayText(each, 60)).join(', ')}: there may be more among them.
        </p>
      )}
    </>
  )
}

function DependentLink({ dependent }: { readonly dependent: Dependent }) {
  const { kinds } = useConsoleContext()
  const { apiVersion = '', kind = '', namespace, name = '' } = dependent
  const type = kinds.ofObject(apiVersion, kind)
  const text = `${displayText(kind, 60)} ${displayText(namespace ? `${namespace}/${name}` : name, 200)}`
  return type === undefined ? <span>{text}</span> : <a href={objectAddress(type, { namespace, name })}>{text}</a>
}
