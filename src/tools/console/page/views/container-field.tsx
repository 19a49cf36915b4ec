/** A field that selects a container of a pod. */
import type { ContainerSummary } from '../core/object-summary.ts'
import { displayText } from '../core/text.ts'

interface ContainerFieldProps {
  readonly containers: readonly ContainerSummary[]
  readonly value: string
  readonly onChange: (name: string) => void
}

export function ContainerField({ containers, value, onChange }: ContainerFieldProps) {
  return (
    <label>
      <span>Container</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {containers.map(({ name, role }) => (
          <option key={name} value={name}>
            {displayText(name, 100)}
            {role === 'main' ? '' : ` (${role})`}
          </option>
        ))}
      </select>
    </label>
  )
}
