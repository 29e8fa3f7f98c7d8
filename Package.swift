// swift-tools-version: 6.2
import PackageDescription

/// Builds in which the program can be broken on purpose, in one place at a time.
let mutants: [SwiftSetting] =
    Context.environment["HOLDFAST_MUTANTS"] == "1" ? [.define("MUTANTS")] : []

/// What every room is held to.
let strict: [SwiftSetting] =
    mutants + [
        .swiftLanguageMode(.v6),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]

/// Generic code that is used across rooms (channels above all) is three to four times slower
/// unless the optimiser may look into the other room.
let acrossRooms: [SwiftSetting] = [
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
]

/// What reads and writes each byte of JSON takes half of a test's time unless it is optimised there, too.
let alwaysOptimised: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What simdjson inlines into its callers is compiled for the instructions that the caller names;
/// its own library picks them at run time.
#if arch(x86_64)
    let inlinedInstructions: [CXXSetting] = [.unsafeFlags(["-march=haswell"])]
#else
    let inlinedInstructions: [CXXSetting] = []
#endif

func shim(_ name: String, links libraries: String...) -> Target {
    .target(
        name: name,
        path: "Sources/C/\(name)",
        linkerSettings: libraries.map { .linkedLibrary($0) }
    )
}

func room(
    _ name: String,
    above rooms: [Target.Dependency] = [],
    _ settings: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: rooms, swiftSettings: strict + acrossRooms + settings)
}

func tests(
    _ name: String,
    of rooms: [Target.Dependency],
    exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .testTarget(
        name: name,
        dependencies: rooms + ["TestSupport"],
        exclude: exclude,
        resources: resources,
        swiftSettings: strict
    )
}

/// Programs of libFuzzer; only there when asked for, because they need its flags in every room.
func fuzzers(_ names: String...) -> [Target] {
    guard Context.environment["HOLDFAST_FUZZ"] == "1" else { return [] }
    return names.map { name in
        .executableTarget(
            name: "Fuzz\(name)",
            dependencies: ["FuzzProperties"],
            path: "Tests/Fuzz/\(name)",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]
        )
    }
}

let package = Package(
    name: "holdfast",
    products: [.executable(name: "holdfast", targets: ["holdfast"])],
    targets: [
        // The C libraries, each behind its own narrow door.
        shim("CSystem"),
        shim("CSQLite", links: "sqlite3"),
        shim("CMicrohttpd", links: "microhttpd"),
        shim("CCurl", links: "curl", "ssl", "crypto"),
        shim("CZlib", links: "z"),
        shim("CWebsockets", links: "websockets", "ssl", "crypto"),
        shim("CSimdjson", links: "simdjson"),
        shim("CCrypto", links: "crypto"),
        shim("CArgon2", links: "argon2"),
        shim("CRecords", links: "protobuf-c"),
        shim("CHub", links: "crypto"),
        shim("CFaultVFS", links: "sqlite3"),

        // The house, ground floor first. A room knows only rooms above this line of it.
        room("System", above: ["CSystem"]),
        room("SQLite", above: ["CSQLite", "System"]),
        room("JSON", above: ["CSimdjson"], alwaysOptimised),
        room("Crypto", above: ["CCrypto", "CArgon2", "System"]),
        room("HTTP", above: ["CMicrohttpd", "CCurl", "CZlib", "CWebsockets", "CSystem", "System"]),
        room("Messaging", above: ["System"]),
        room("Metrics", above: ["Messaging", "System"]),
        room("Logging", above: ["System"]),
        room("Vault", above: ["Crypto", "JSON", "System"]),
        room("Records", above: ["CRecords", "Crypto", "Vault"]),
        room("Bitwarden", above: ["Vault", "Crypto", "JSON"]),
        room(
            "Sync",
            above: [
                "Vault", "Records", "SQLite", "Crypto", "JSON", "Messaging", "Metrics", "Logging",
                "System",
            ]
        ),
        room(
            "Host",
            above: [
                "Sync", "Records", "Bitwarden", "Vault", "Crypto", "JSON", "HTTP", "Messaging",
                "Metrics", "Logging", "System",
            ]
        ),
        room(
            "EmbeddedUpstream",
            above: [
                "Bitwarden", "Vault", "Crypto", "JSON", "HTTP", "SQLite", "Messaging", "System",
                "CHub",
            ]
        ),
        room(
            "LoadTest",
            above: ["EmbeddedUpstream", "Bitwarden", "Crypto", "JSON", "HTTP", "SQLite", "System"]
        ),
        room("Machine", above: ["System", "CFaultVFS"]),
        room(
            "Simulation",
            above: [
                "Host", "EmbeddedUpstream", "Sync", "Bitwarden", "Vault", "SQLite", "Crypto",
                "JSON", "HTTP", "Messaging", "Metrics", "Logging", "Machine", "System",
            ]
        ),
        .executableTarget(
            name: "holdfast",
            dependencies: [
                "LoadTest", "Simulation", "Host", "EmbeddedUpstream", "Sync", "Bitwarden", "Vault",
                "Crypto", "HTTP", "JSON", "SQLite", "Metrics", "Logging", "System",
            ],
            swiftSettings: strict
        ),

        .target(
            name: "TestSupport",
            dependencies: ["Machine", "System"],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .target(
            name: "MeshSupport",
            dependencies: [
                "Sync", "Host", "EmbeddedUpstream", "Bitwarden", "Vault", "Crypto", "JSON", "HTTP",
                "Messaging", "Metrics", "Logging", "System", "TestSupport",
            ],
            path: "Tests/MeshSupport",
            swiftSettings: strict
        ),
        tests("SystemTests", of: ["System"]),
        tests(
            "CryptoTests",
            of: ["Crypto", "System", "FuzzProperties"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "JSONTests",
            of: ["JSON", "System", "FuzzProperties"],
            exclude: ["Fixtures"]
        ),
        tests("SQLiteTests", of: ["SQLite", "CSQLite", "System"]),
        .target(name: "SlowNames", path: "Tests/SlowNames"),
        tests(
            "HTTPTests",
            of: ["HTTP", "CCurl", "CWebsockets", "System", "FuzzProperties", "SlowNames"]
        ),
        tests("MessagingTests", of: ["Messaging", "System"]),
        tests("MetricsTests", of: ["Metrics", "Messaging"]),
        tests("LoggingTests", of: ["Logging"]),
        tests(
            "RecordsTests",
            of: ["Records", "Vault", "Crypto", "System", "FuzzProperties"],
            resources: [.copy("Fixtures")]
        ),
        .target(
            name: "CrashStory",
            dependencies: ["Sync", "Vault"],
            path: "Tests/CrashStory",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "store-writer",
            dependencies: ["CrashStory", "Sync", "Vault", "System"],
            path: "Tests/Crash",
            swiftSettings: strict
        ),
        tests(
            "SyncTests",
            of: [
                "Sync", "Vault", "Records", "SQLite", "CSQLite", "Messaging", "System", "Crypto",
                "JSON", "CrashStory", "FuzzProperties", "store-writer", "Metrics", "Logging",
                "MeshSupport", "EmbeddedUpstream",
            ]
        ),
        tests(
            "VaultTests",
            of: ["Vault", "Crypto", "JSON", "System", "FuzzProperties"],
            exclude: ["Fixtures"]
        ),
        tests(
            "BitwardenTests",
            of: ["Bitwarden", "Vault", "JSON", "Crypto", "System"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "EmbeddedUpstreamTests",
            of: [
                "EmbeddedUpstream", "Bitwarden", "Vault", "HTTP", "JSON", "Crypto", "Messaging",
                "System",
            ]
        ),
        tests(
            "HostTests",
            of: [
                "Host", "EmbeddedUpstream", "Sync", "Records", "Bitwarden", "Vault", "Crypto",
                "JSON", "HTTP", "Messaging", "Metrics", "Logging", "System",
            ]
        ),
        tests("LoadTestTests", of: ["LoadTest", "JSON", "System", "holdfast"]),
        tests("CommandLineTests", of: ["holdfast", "Host", "HTTP", "JSON", "System"]),
        tests(
            "SimulationTests",
            of: ["Simulation", "holdfast", "Machine", "System"],
            exclude: ["Corpus.txt"]
        ),
        tests("TidyTests", of: ["Simulation"], exclude: ["ratchets.awk"]),
        tests("GroundFloorTests", of: ["ground-floor"]),

        // Every room of the ground floor at work, without the mesh.
        .executableTarget(
            name: "ground-floor",
            dependencies: ["System", "SQLite", "HTTP", "Messaging", "Metrics"],
            path: "Tests/GroundFloor",
            swiftSettings: strict
        ),

        // Our own client, for the tests with clients that nobody here wrote.
        .executableTarget(
            name: "interop-client",
            dependencies: [
                "Host", "Bitwarden", "Vault", "Crypto", "JSON", "HTTP", "Metrics", "System",
            ],
            path: "Tests/Interop/Client",
            swiftSettings: strict
        ),

        // What must hold for any input. The tests try it a little, `make fuzz` thoroughly.
        .target(
            name: "FuzzProperties",
            dependencies: ["HTTP", "JSON", "Vault", "Records", "Crypto", "System"],
            path: "Tests/Fuzz/Properties",
            swiftSettings: strict
        ),

        .target(
            name: "CCeilings",
            path: "Tests/Benchmarks/Ceilings",
            cxxSettings: inlinedInstructions,
            linkerSettings: ["sqlite3", "curl", "simdjson", "crypto"].map { .linkedLibrary($0) }
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CCeilings", "System", "SQLite", "JSON", "Crypto", "HTTP", "Messaging", "Metrics",
                "Logging", "Vault", "Records", "Sync", "Bitwarden", "Host", "EmbeddedUpstream",
                "MeshSupport",
            ],
            path: "Tests/Benchmarks",
            exclude: ["Ceilings"],
            swiftSettings: strict + acrossRooms
        ),
    ]
        + fuzzers(
            "JSONParsing",
            "JSONSplicing",
            "JSONSplitting",
            "ItemReading",
            "EncStringOpening",
            "RecordReading",
            "RequestReading"
        ),
    cLanguageStandard: .c11,
    cxxLanguageStandard: .cxx17
)
