/** Whether everything is well and, if not, each concern. */
export function Verdict({ concerns }: { readonly concerns: readonly string[] }) {
  if (concerns.length === 0) {
    return (
      <p class="verdict well" role="status">
        <span aria-hidden="true">✓ </span>Everything is well.
      </p>
    )
  }
  return (
    <div class="verdict ill" role="status">
      <span aria-hidden="true">✕ </span>
      {concerns.length === 1 ? 'One thing needs' : `${concerns.length} things need`} attention.
      <ul class="problems">
        {concerns.map((each) => (
          <li>{each}</li>
        ))}
      </ul>
    </div>
  )
}
