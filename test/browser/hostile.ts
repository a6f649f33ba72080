/** Two hundred texts that want to be more than text. Each would be noticed: it asks for `pwned`. */
const ATTACKS: readonly ((n: number) => string)[] = [
  (n) => `<script>window.pwned=${n}</script>`,
  (n) => `<img src=x onerror="window.pwned=${n}">`,
  (n) => `<svg onload="window.pwned=${n}"><animate onbegin="window.pwned=${n}"/></svg>`,
  (n) => `</p></div><iframe srcdoc="<script>parent.pwned=${n}</script>"></iframe>`,
  (n) => `[click](javascript:window.pwned=${n})`,
  (n) => `<a href="javascript:window.pwned=${n}" id="bait-${n}">x</a>`,
  (n) => `<style>*{display:none}</style><div id="bait-${n}">`,
  (n) => `\`\`\`html\n<script>window.pwned=${n}</script>\n\`\`\``,
  (n) => `**<b onmouseover="window.pwned=${n}">**\`<i onclick=alert(${n})>\``,
  (n) => `{{constructor.constructor('window.pwned=${n}')()}} \${window.pwned=${n}}`,
  (n) => `<base href="https://evil.example/${n}"><link rel="stylesheet" href="//evil.example/">`,
  (n) => `<form action="javascript:window.pwned=${n}"><button id="bait-${n}">x</button></form>`,
  (n) => `\u202e<script>window.pwned=${n}</script>\u2066 \u0000\ufffe &lt;script&gt; &#60;img&#62;`,
  (n) =>
    `https://evil.example/"onmouseover="window.pwned=${n} data:text/html,<script>${n}</script>`,
  (n) => `<!--[if gte IE 4]><script>window.pwned=${n}</script><![endif]--><![CDATA[<x>]]>`,
  (n) => `# <object data="javascript:window.pwned=${n}">\n- <embed src=javascript:${n}>`,
  (n) => `"><details open ontoggle="window.pwned=${n}"><summary>x</summary></details>`,
  (n) => `__proto__ constructor dangerouslySetInnerHTML {"__html":"<script>${n}</script>"}`,
  (n) => `<math><mtext><table><mglyph><style><img src onerror=window.pwned=${n}>`,
  (n) => `<meta http-equiv="refresh" content="0;url=javascript:window.pwned=${n}">`,
]
const COUNT = 200

export const HOSTILE: readonly string[] = Array.from({ length: COUNT }, (_, index) => {
  const attack = ATTACKS[index % ATTACKS.length]
  // The null character is none of ours to send: the API takes it, but no browser shows it.
  return (attack?.(index) ?? '').replaceAll('\u0000', '')
})
