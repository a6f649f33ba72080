/** Files and commands with which a host keeps `throughline serve` running. */
export interface ServiceFacts {
  readonly node: string
  readonly program: string
  /** Arguments of the program: `serve` and its options. */
  readonly args: readonly string[]
  readonly workingFolder: string
}

export const SERVICE_KINDS = ['systemd', 'launchd', 'nssm'] as const
export type ServiceKind = (typeof SERVICE_KINDS)[number]

/** Why these facts cannot be written for a service manager; null: they can. */
export function whyUnprintable(kind: ServiceKind, facts: ServiceFacts): string | null {
  const { node, program, args, workingFolder } = facts
  const words = [node, program, workingFolder, ...args]
  // A line break could start another command.
  if (words.some((word) => CONTROLS.test(word))) return 'a path or an argument has a line break'
  if (kind === 'systemd' && /\\$|\s$/.test(workingFolder)) {
    return 'the path of this folder ends with a backslash or a space'
  }
  // The Windows shell interprets these even within quotes.
  if (kind === 'nssm' && words.some((word) => /["%]/.test(word))) {
    return 'a path or an argument has a quotation mark or a percent sign'
  }
  return null
}

const CONTROLS = /\p{Cc}|\p{Zl}|\p{Zp}/u

export function serviceText(kind: ServiceKind, facts: ServiceFacts): string {
  switch (kind) {
    case 'systemd':
      return systemdUnit(facts)
    case 'launchd':
      return launchdPlist(facts)
    case 'nssm':
      return nssmCommands(facts)
    default:
      return kind satisfies never
  }
}

// A running turn ends or is handed over within this time, before the process is killed.
const STOP_SECONDS = 60

function systemdUnit({ node, program, args, workingFolder }: ServiceFacts): string {
  return `# Save as ~/.config/systemd/user/throughline.service, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now throughline
#   loginctl enable-linger
# The last line keeps it running while you are logged out, and starts it with the machine.
# Keys go into the file that EnvironmentFile names, one NAME=value per line, mode 600.
[Unit]
Description=Throughline, sessions of AI agents
# Tries again for good: a service that gave up would also close the socket that systemd holds for it.
StartLimitIntervalSec=0

[Service]
WorkingDirectory=${unitPath(workingFolder)}
ExecStart=${[node, program, ...args].map(unitWord).join(' ')}
EnvironmentFile=-%h/.config/throughline/environment
Restart=on-failure
RestartSec=2
TimeoutStopSec=${STOP_SECONDS}
NoNewPrivileges=true

[Install]
WantedBy=default.target
`
}

/** Specifiers begin with a percent sign everywhere. */
function unitPath(path: string): string {
  return path.replaceAll('%', '%%')
}

/** A command line also expands variables, and quotes keep a word together. */
function unitWord(word: string): string {
  const escaped = unitPath(word)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('$', '$$$$')
  return /^[\w./:@%+=,-]+$/.test(escaped) ? escaped : `"${escaped}"`
}

function launchdPlist({ node, program, args, workingFolder }: ServiceFacts): string {
  const words = [node, program, ...args].map((word) => `    <string>${xml(word)}</string>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- Save as ~/Library/LaunchAgents/throughline.plist, then:
     launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/throughline.plist -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>throughline</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(workingFolder)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
</dict>
</plist>
`
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function nssmCommands({ node, program, args, workingFolder }: ServiceFacts): string {
  const parameters = [program, ...args].map(innerWord).join(' ')
  return `rem Run these as administrator; nssm is from https://nssm.cc
nssm install throughline ${commandWord(node)} ${parameters}
nssm set throughline AppDirectory ${commandWord(workingFolder)}
nssm set throughline AppStopMethodConsole ${STOP_SECONDS * 1_000}
nssm set throughline AppExit Default Restart
nssm start throughline
`
}

/** Characters that the Windows shell does not treat as part of a word. */
const SHELL = /[\s&()^|<>;,=!'`]/

function commandWord(word: string): string {
  return SHELL.test(word) ? `"${word}"` : word
}

/**
 * nssm joins its last arguments into one command line, so they need quotes that survive the shell.
 */
function innerWord(word: string): string {
  return SHELL.test(word) ? `"\\"${word}\\""` : word
}
